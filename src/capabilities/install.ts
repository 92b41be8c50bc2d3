import { type Clock, iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { UseCase } from './catalogue.js';
import { DownloadFailed } from './download.js';
import { type EngineProbe, EngineUnusable } from './engine.js';
import { fetchFiles, type Telling } from './fetch.js';
import { installPackages, NpmFailed } from './npm.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import type { PackageSet } from './packages.js';
import { LLAMA } from './packages.js';
import type { InstallPlan } from './plan.js';
import { pullModel } from './pull.js';
import type { Shelf } from './shelf.js';
import { describeFiles } from './shelf.js';
import { copyFromSource } from './source.js';

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
    /** The ends of operations that were stopped. */
    fate: { wasCancelled(id: string): Promise<boolean> };
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
      if (status === 'cancelled') void deps.shelf.discard(slug).catch(() => undefined);
      return [];
    },
    run: async (run) => {
      const { plans, useCase } = run.input;
      try {
        for (const plan of plans) {
          await turns(plan.slug, () => installOne(deps, plan, run));
        }
        return await completed(deps, plans, useCase);
      } catch (error) {
        if (run.signal.aborted) await forgetCancelled(deps, run);
        run.signal.throwIfAborted();
        const message = failureOf(error);
        if (message === null) throw error;
        return { status: 'failed', error: message };
      }
    },
  };
};

/** Removes what a cancelled operation has fetched. After the daemon's stop it is gone on from. */
const forgetCancelled = async ({ shelf, models }: InstallDeps, run: InstallRun): Promise<void> => {
  if (!(await models.fate.wasCancelled(run.id))) return;
  for (const { slug } of run.input.plans) await shelf.discard(slug);
};

const completed = async (
  { models }: InstallDeps,
  plans: InstallPlan[],
  useCase: UseCase | null,
): Promise<OperationEnd> => {
  const plan = plans.at(-1);
  if (!plan) return { status: 'failed', error: 'There was nothing to install' };
  const model = useCase === null ? null : await models.register(plan, useCase);
  return { status: 'completed', result: { id: plan.slug, model } };
};

/** Installs what is not there yet. A failure leaves nothing of it, but what can be gone on from. */
const installOne = async (deps: InstallDeps, plan: InstallPlan, run: InstallRun): Promise<void> => {
  const { shelf } = deps;
  if (plan.via === 'ollama') return pullModel(deps.library, plan, tellingOf(run));
  if (await shelf.find(plan.slug)) return;
  try {
    await build(deps, plan, run);
  } catch (error) {
    const isKept = run.signal.aborted || (error instanceof DownloadFailed && error.isResumable);
    if (!isKept) await shelf.discard(plan.slug);
    throw error;
  }
};

const build = async (
  deps: InstallDeps,
  plan: Exclude<InstallPlan, { via: 'ollama' }>,
  run: InstallRun,
): Promise<void> => {
  const { shelf, places, clock, engine } = deps;
  const folder = shelf.begin(plan.slug);
  const telling = tellingOf(run);
  if (places.source !== null) {
    await copyFromSource({ source: places.source, plan, folder }, telling);
  } else if (plan.via === 'download') {
    await fetchFiles(deps.http, { plan, folder }, telling);
  } else {
    await installNpm(deps, { plan, folder }, telling);
  }
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
    files: files.filter(({ path }) => path !== 'capability.json'),
  });
};

const installNpm = async (
  { engine, places }: InstallDeps,
  { plan, folder }: { plan: InstallPlan; folder: string },
  telling: Telling,
): Promise<void> => {
  const packages = await engine.packagesOf(plan);
  if (!packages) throw new NpmFailed(`Its packages are not known here any more: ${plan.id}`);
  telling.note(`npm installs ${Object.keys(packages.dependencies).join(', ')}`);
  await installPackages(folder, packages, { folders: places.folders, signal: telling.signal });
};

/** Ours: progress is told so often at most, in milliseconds. */
const PACE_MS = 300;

const tellingOf = (run: InstallRun): Telling => {
  let last: { done: number; total: number | null } = { done: 0, total: null };
  let at = Number.NEGATIVE_INFINITY;
  return {
    signal: run.signal,
    bytes: (done, total, note) => {
      last = { done, total };
      if (performance.now() - at < PACE_MS && done !== total) return;
      at = performance.now();
      run.progress({ done, total, unit: 'bytes', note });
    },
    note: (note) => run.progress({ ...last, unit: 'bytes', note }),
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
