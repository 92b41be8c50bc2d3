import { join } from 'node:path';
import { type Clock, iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import { createSerial, type Serial } from '../kernel/serial.js';
import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { UseCase } from './catalogue.js';
import { checkDiskSpace } from './diskspace.js';
import { DownloadFailed } from './downloadfailed.js';
import { type EngineProbe, EngineUnusable } from './engine.js';
import { fetchFiles, type ProgressReporter } from './fetch.js';
import type { InstalledModels } from './installedmodels.js';
import {
  describeFiles,
  hasFetched,
  type InstalledFile,
  makeFreshFolder,
} from './installedmodels.js';
import type { InstallPlan } from './installplan.js';
import { installPackages, NPM_CACHE, NpmFailed } from './npm.js';
import { OllamaFailed, type OllamaLibrary } from './ollama.js';
import type { PackageSet } from './packages.js';
import { createProgressReporter, lastReported } from './progressreporter.js';
import { pullModel } from './pull.js';
import type { RegistrationUse } from './registration.js';
import { copyFromSource, copyTree, readExported } from './source.js';
import { isUndamaged } from './verify.js';

export interface InstallInput {
  plans: InstallPlan[];
  useCase: UseCase | null;
  /** In tokens; absent: the default. */
  contextWindow?: number | undefined;
  /** True if a pulled model must have the licence shown before. Absent in old operations. */
  isLicenceKept?: boolean;
}

type InstallRun = OperationRun<InstallInput, never>;

export interface InstallDeps {
  clock: Clock;
  http: Pick<Http, 'open' | 'request'>;
  shelf: InstalledModels;
  unload(slug: string): Promise<void>;
  library: OllamaLibrary;
  places: {
    folders: string[];
    /** null: download. */
    source: string | null;
  };
  engine: EngineProbe & { packagesOf(plan: InstallPlan): Promise<PackageSet | null> };
  models: {
    register(plan: InstallPlan, wanted: RegistrationUse): Promise<string | null>;
    faultOf(path: string, signal: AbortSignal): Promise<string | null>;
    renewed(slug: string): void;
    fate: {
      wasCancelled(id: string): Promise<boolean>;
      busy(): Promise<string[]>;
    };
  };
}

export const installOperation = (deps: InstallDeps): OperationKind<InstallInput, never> => {
  // Two installations of one capability write to one folder.
  const turns = createSerial();
  return {
    kind: 'capabilities.install',
    isResumable: true,
    isAdmins: true,
    isInputDropped: true,
    most: 20,
    ended: ({ resource_id: slug }, status) => {
      // An operation that waited after a restart has no run that could clean up.
      if (status === 'cancelled') {
        deps.clock.after(SETTLED_MS, () => forgetIdle(deps, turns, slug), { ref: false });
      }
      return [];
    },
    run: async (run) => {
      const { plans } = run.input;
      const placed: string[] = [];
      try {
        // Checked first, so that no engine is installed for a missing model.
        if (deps.places.source !== null) await refuseMissing(deps.places.source, plans);
        let licence: string | null = null;
        for (const plan of plans) {
          const done = await turns(plan.slug, () => installOne(deps, plan, run));
          if (done.isPlaced) placed.push(plan.slug);
          licence = done.licence;
        }
        return await completed(deps, run, licence);
      } catch (error) {
        await undoInstall(deps, run, placed);
        run.signal.throwIfAborted();
        const message = getFailureMessage(error);
        if (message === null) throw error;
        // Clears the announced retry, which does not happen.
        run.progress({ ...lastReported(run), unit: 'bytes' });
        return { status: 'failed', error: message };
      }
    },
  };
};

const undoInstall = async (
  { shelf, models, unload }: InstallDeps,
  { id, signal }: InstallRun,
  placed: string[],
): Promise<void> => {
  if (!signal.aborted || !(await models.fate.wasCancelled(id))) return;
  for (const slug of placed) await shelf.remove(slug).finally(() => unload(slug));
};

const refuseMissing = async (source: string, plans: InstallPlan[]): Promise<void> => {
  for (const plan of plans) if (plan.via !== 'ollama') await readExported(source, plan.slug);
};

const SETTLED_MS = 1000;

/** Unless another installation resumes it. */
const forgetIdle = ({ shelf, models }: InstallDeps, turns: Serial, slug: string): void => {
  turns(slug, async () => {
    if (!(await models.fate.busy()).includes(slug)) await shelf.discard(slug);
  }).catch(() => undefined);
};

const completed = async (
  { models, clock }: InstallDeps,
  run: InstallRun,
  licence: string | null,
): Promise<OperationEnd> => {
  const { plans, useCase, contextWindow } = run.input;
  const plan = plans.at(-1);
  if (!plan) return { status: 'failed', error: 'Nothing to install' };
  run.signal.throwIfAborted();
  await run.refuseForbidden();
  const model = useCase === null ? null : await models.register(plan, { useCase, contextWindow });
  const as = model === null ? '' : ` and registered as ${model}`;
  const under = licence === null ? '' : `, licence: ${licence}`;
  createProgressReporter(run, clock).note(`${plan.slug} is installed${as}${under}`.slice(0, 500));
  const reported = plan.via === 'ollama' && { licence };
  return { status: 'completed', result: { id: plan.slug, model, ...reported } };
};

interface InstalledOne {
  /** Licence of a pulled model; null otherwise. */
  licence: string | null;
  isPlaced: boolean;
}

/** A failure leaves only files that can be resumed. */
const installOne = async (
  deps: InstallDeps,
  plan: InstallPlan,
  run: InstallRun,
): Promise<InstalledOne> => {
  const { shelf } = deps;
  run.signal.throwIfAborted();
  if (plan.via === 'ollama') {
    const { isLicenceKept = false } = run.input;
    const telling = createProgressReporter(run, deps.clock);
    const licence = await pullModel(deps.library, { plan, isLicenceKept }, telling);
    return { licence, isPlaced: false };
  }
  if (await isUndamaged(shelf, plan.slug)) return { licence: null, isPlaced: false };
  try {
    await build(deps, plan, run);
    deps.models.renewed(plan.slug);
    return { licence: null, isPlaced: true };
  } catch (error) {
    const isKept = run.signal.aborted
      ? !(await deps.models.fate.wasCancelled(run.id))
      : error instanceof DownloadFailed &&
        error.isResumable &&
        (await hasFetched(shelf.partial(plan.slug)));
    if (!isKept) await shelf.discard(plan.slug);
    throw error;
  }
};

const build = async (
  deps: InstallDeps,
  plan: Exclude<InstallPlan, { via: 'ollama' }>,
  run: InstallRun,
): Promise<void> => {
  const { shelf, clock } = deps;
  const telling = createProgressReporter(run, clock);
  const partialFolder = await shelf.beginFor(plan.slug, JSON.stringify(installKey(plan)));
  const folder = plan.via === 'npm' ? await makeFreshFolder(partialFolder) : partialFolder;
  const files =
    plan.via === 'npm'
      ? await installNpm(deps, { plan, folder }, telling)
      : await fetchModelFiles(deps, { plan, folder }, telling);
  run.signal.throwIfAborted();
  await run.refuseForbidden();
  const { id, kind, name, version, licence, source, useCases } = plan;
  const manifest = {
    id,
    kind,
    name,
    version,
    licence: licence?.name ?? null,
    ...(licence?.mustAccept && { licenceUrl: licence.url, mustAccept: true }),
    source,
    useCases,
    installedAt: iso(clock.now()),
    files,
  };
  await shelf.place(plan.slug, manifest, folder);
};

/** Decides whether a partial download can be resumed. */
const installKey = (plan: InstallPlan): unknown =>
  plan.via === 'download' ? plan.files : [plan.version, plan.source];

const fetchModelFiles = async (
  { http, places, models }: InstallDeps,
  { plan, folder }: { plan: Extract<InstallPlan, { via: 'download' }>; folder: string },
  telling: ProgressReporter,
): Promise<InstalledFile[]> => {
  const files =
    places.source === null
      ? await fetchFiles(http, { plan, folder }, telling)
      : await copyFromSource({ source: places.source, plan, folder }, telling);
  const [first] = plan.files;
  if (!first?.path.endsWith('.gguf')) return files;
  telling.note('reading the header');
  const fault = await models.faultOf(join(folder, first.path), telling.signal);
  if (fault === null) return files;
  throw new DownloadFailed(
    `The file is not a supported model. ${fault}. Download the file again or choose another model`,
    false,
  );
};

const installNpm = async (
  { engine, places }: InstallDeps,
  { plan, folder }: { plan: InstallPlan; folder: string },
  telling: ProgressReporter,
): Promise<InstalledFile[]> => {
  const packages = await engine.packagesOf(plan);
  if (!packages)
    throw new NpmFailed(
      `${plan.id} cannot be installed: this version of Adjutant knows no packages for this machine. Update Adjutant`,
    );
  await checkDiskSpace(folder, 2 * (plan.bytes ?? 0));
  const { folders, source } = places;
  if (source !== null) {
    await readExported(source, plan.slug);
    telling.note('copying packages');
    const from = join(source, plan.slug, NPM_CACHE);
    await copyTree(from, join(folder, NPM_CACHE), telling);
  }
  telling.note(`npm installs ${Object.keys(packages.dependencies).join(', ')}`);
  const { signal } = telling;
  const isOffline = source !== null;
  await installPackages(folder, packages, { folders, isOffline, signal, progress: telling });
  if (plan.kind === 'engine') {
    telling.note('testing the engine on this machine');
    await engine.probe(folder, plan.slug, signal);
  }
  telling.note('checking the files');
  return describeFiles(folder, signal);
};

/** null: not a failure that a user can act on. */
const getFailureMessage = (error: unknown): string | null =>
  error instanceof DownloadFailed ||
  error instanceof NpmFailed ||
  error instanceof OllamaFailed ||
  error instanceof EngineUnusable
    ? error.message
    : null;
