import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { UseCase } from './catalogue.js';
import { checkRoom, DownloadFailed } from './download.js';
import { type EngineProbe, EngineUnusable } from './engine.js';
import { fetchFiles, type Telling } from './fetch.js';
import { installPackages, NPM_CACHE, NpmFailed } from './npm.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import type { PackageSet } from './packages.js';
import { LLAMA } from './packages.js';
import type { InstallPlan } from './plan.js';
import { pullModel } from './pull.js';
import type { Shelf } from './shelf.js';
import { describeFiles } from './shelf.js';
import { copyFromSource, exportedIn } from './source.js';

/** The request of an operation: what it does first, for what it needs, and what it is for. */
export interface InstallInput {
  plans: InstallPlan[];
  useCase: UseCase | null;
}

type InstallRun = OperationRun<InstallInput, never>;

export interface InstallDeps {
  clock: Clock;
  http: Pick<Http, 'open' | 'request'>;
  shelf: Shelf;
  library: OllamaLibrary;
  /** The settings that say where programs and files come from. */
  places: {
    /** Folders with npm. */
    folders: string[];
    /** A folder to install from in place of the network; null: none. */
    source: string | null;
  };
  engine: EngineProbe & { packagesOf(plan: InstallPlan): Promise<PackageSet | null> };
  models: {
    /** Registers what was installed as a model, for a use. */
    register(plan: InstallPlan, useCase: UseCase): Promise<string | null>;
    /** Returns why a GGUF file is no model; null if its header is right. */
    faultOf(path: string, signal: AbortSignal): Promise<string | null>;
    /** The ends of operations that were stopped. */
    fate: {
      wasCancelled(id: string): Promise<boolean>;
      /** Lists the slugs of what is being installed. */
      busy(): Promise<string[]>;
    };
  };
}

/** The kind of operation that installs a capability, and before it what that needs. */
export const installOperation = (deps: InstallDeps): OperationKind<InstallInput, never> => {
  const turns = createSlugTurns();
  return {
    kind: 'capabilities.install',
    isResumable: true,
    isAdmins: true,
    most: 20,
    ended: ({ resource_id: slug }, status) => {
      // One that waited for its turn after a restart has no run that could do it.
      if (status === 'cancelled')
        setTimeout(() => forgetIdle(deps, turns, slug), SETTLED_MS).unref();
      return [];
    },
    run: async (run) => {
      const { plans } = run.input;
      try {
        // Before the first, so that an engine is not installed for a model that is not there.
        if (deps.places.source !== null) await refuseMissing(deps.places.source, plans);
        for (const plan of plans) {
          await turns(plan.slug, () => installOne(deps, plan, run));
        }
        return await completed(deps, run);
      } catch (error) {
        run.signal.throwIfAborted();
        const message = failureOf(error);
        if (message === null) throw error;
        return { status: 'failed', error: message };
      }
    },
  };
};

/** Throws DownloadFailed if a plan is not in the folder that everything is installed from. */
const refuseMissing = async (source: string, plans: InstallPlan[]): Promise<void> => {
  for (const plan of plans) if (plan.via !== 'ollama') await exportedIn(source, plan.slug);
};

/** Ours: the time in which the end of an operation is written, in milliseconds. */
const SETTLED_MS = 1000;

/** Removes what is left of a cancelled installation, unless another one goes on with it. */
const forgetIdle = (
  { shelf, models }: InstallDeps,
  turns: ReturnType<typeof createSlugTurns>,
  slug: string,
): void => {
  turns(slug, async () => {
    if (!(await models.fate.busy()).includes(slug)) await shelf.discard(slug);
  }).catch(() => undefined);
};

const completed = async ({ models }: InstallDeps, run: InstallRun): Promise<OperationEnd> => {
  const { plans, useCase } = run.input;
  const plan = plans.at(-1);
  if (!plan) return { status: 'failed', error: 'There was nothing to install' };
  const model = useCase === null ? null : await models.register(plan, useCase);
  const as = model === null ? '' : ` and registered as ${model}`;
  tellingOf(run).note(`${plan.slug} is installed${as}`);
  return { status: 'completed', result: { id: plan.slug, model } };
};

/** Installs what is not there yet. A failure leaves nothing of it, but what can be gone on from. */
const installOne = async (deps: InstallDeps, plan: InstallPlan, run: InstallRun): Promise<void> => {
  const { shelf } = deps;
  run.signal.throwIfAborted();
  if (plan.via === 'ollama') return pullModel(deps.library, plan, tellingOf(run));
  if (await shelf.find(plan.slug)) return;
  try {
    await build(deps, plan, run);
  } catch (error) {
    const isKept = run.signal.aborted
      ? !(await deps.models.fate.wasCancelled(run.id))
      : error instanceof DownloadFailed && error.isResumable;
    if (!isKept) await shelf.discard(plan.slug);
    throw error;
  }
};

const build = async (
  deps: InstallDeps,
  plan: Exclude<InstallPlan, { via: 'ollama' }>,
  run: InstallRun,
): Promise<void> => {
  const { shelf, clock, engine } = deps;
  const telling = tellingOf(run);
  const folder = await shelf.beginFor(plan.slug, JSON.stringify(wantedOf(plan)));
  if (plan.via === 'npm') await installNpm(deps, { plan, folder }, telling);
  else await obtain(deps, { plan, folder }, telling);
  if (plan.slug === LLAMA) {
    telling.note('trying whether it runs on this machine');
    await engine.probe(folder, run.signal);
  }
  telling.note('checking the files');
  const files = await describeFiles(folder, run.signal);
  run.signal.throwIfAborted();
  const { id, kind, name, version, licence, source, useCases } = plan;
  await shelf.place(plan.slug, {
    id,
    kind,
    name,
    version,
    licence: licence?.name ?? null,
    source,
    useCases,
    installedAt: iso(clock.now()),
    files,
  });
};

/** The part of a plan that decides whether what is there already can be gone on from. */
const wantedOf = (plan: InstallPlan): unknown =>
  plan.via === 'download' ? plan.files : [plan.version, plan.source];

/** Fetches or copies the files of a model, and reads its header. Throws DownloadFailed. */
const obtain = async (
  { http, places, models }: InstallDeps,
  { plan, folder }: { plan: Extract<InstallPlan, { via: 'download' }>; folder: string },
  telling: Telling,
): Promise<void> => {
  if (places.source === null) await fetchFiles(http, { plan, folder }, telling);
  else await copyFromSource({ source: places.source, plan, folder }, telling);
  const [first] = plan.files;
  if (!first?.path.endsWith('.gguf')) return;
  telling.note('reading its header');
  const fault = await models.faultOf(join(folder, first.path), telling.signal);
  if (fault !== null) throw new DownloadFailed(`It is no model that runs here: ${fault}`, false);
};

const installNpm = async (
  { engine, places }: InstallDeps,
  { plan, folder }: { plan: InstallPlan; folder: string },
  telling: Telling,
): Promise<void> => {
  const packages = await engine.packagesOf(plan);
  if (!packages) throw new NpmFailed(`Its packages are not known here any more: ${plan.id}`);
  await checkRoom(folder, 2 * (plan.bytes ?? 0));
  const { folders, source } = places;
  if (source !== null) {
    await exportedIn(source, plan.slug);
    telling.note('copying its packages');
    const from = join(source, plan.slug, NPM_CACHE);
    await cp(from, join(folder, NPM_CACHE), { recursive: true }).catch(() => {
      throw new DownloadFailed(`${from} cannot be copied`, false);
    });
  }
  telling.note(`npm installs ${Object.keys(packages.dependencies).join(', ')}`);
  const { signal } = telling;
  await installPackages(folder, packages, { folders, isOffline: source !== null, signal });
};

/** Ours: progress is told so often at most, in milliseconds. */
const PACE_MS = 300;

/** The bytes that each run has told last. */
const told = new WeakMap<InstallRun, { done: number; total: number | null }>();

const lastOf = (run: InstallRun) => {
  const last = told.get(run) ?? { done: 0, total: null };
  told.set(run, last);
  return last;
};

const tellingOf = (run: InstallRun): Telling => {
  const last = lastOf(run);
  let at = Number.NEGATIVE_INFINITY;
  return {
    signal: run.signal,
    bytes: (done, total, note) => {
      last.done = done;
      last.total = total;
      if (performance.now() - at < PACE_MS && done !== total) return;
      at = performance.now();
      run.progress({ done, total, unit: 'bytes', note });
    },
    note: (note) => {
      const { done, total } = last;
      run.progress({ done, total, unit: 'bytes', note });
    },
  };
};

/** Returns the message of a failure that a person can act on; null for any other error. */
const failureOf = (error: unknown): string | null =>
  error instanceof DownloadFailed ||
  error instanceof NpmFailed ||
  error instanceof OllamaFailed ||
  error instanceof EngineUnusable
    ? error.message
    : null;

/** Creates what does one thing after the other for each slug. */
const createSlugTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return <T>(slug: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(slug) ?? Promise.resolve();
    const now = before.catch(() => undefined).then(work);
    last.set(slug, now);
    return now;
  };
};
