import { join } from 'node:path';
import type { Base } from '../base.js';
import type { Config } from '../config.js';
import type { Documents } from '../documents/module.js';
import type { Resource } from '../kernel/route.js';
import type { ModelsModule } from '../models/module.js';
import { type Operations, openWorkers } from '../operations/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import { measureBandwidth } from '../providers/hardware/bandwidth.js';
import type { Machine } from '../providers/hardware/machine.js';
import { readMachine } from '../providers/hardware/read.js';
import { type BandwidthRecord, openBandwidthRecord } from './bandwidthrecord.js';
import { cataloguedModels, type FittedModel, ggufOf, installedModel } from './candidates.js';
import { createCatalogues } from './catalogue.js';
import { type CapabilityFault, checkCapabilities } from './check.js';
import { engineProbe } from './engine.js';
import { createHardwareReport } from './hardware.js';
import { createHeaders } from './headers.js';
import { installOperation } from './install.js';
import { measureOperation, openSpeeds } from './measure.js';
import { createMemoryNeeds } from './needs.js';
import { createOllamaLibrary } from './ollama.js';
import { ollamaAddress, ownAddress } from './ollamastate.js';
import { LLAMA, llamaPackages, type PackageSet, tesseractPackages } from './packages.js';
import type { InstallPlan } from './plan.js';
import { capabilitiesStore } from './queries.js';
import { createRegistration } from './registration.js';
import { capabilitiesResource } from './routes.js';
import { openShelf } from './shelf.js';
import { createSurvey, hostOf } from './survey.js';
import { sweepPartial } from './sweep.js';
import { verifyOperation } from './verify.js';

export type { CapabilityFault } from './check.js';

interface CapabilitiesOptions {
  operations: Operations;
  models: Pick<ModelsModule, 'registry' | 'cliTools' | 'register' | 'llama' | 'measureLlama'>;
  confinement: Confinement | null;
  config: Config;
  documents: Pick<Documents, 'shippedLanguages'>;
}

/** Opens the capabilities: what this machine can run, and what is installed on it. */
export const openCapabilities = (base: Base, options: CapabilitiesOptions) => {
  const { store, clock, http, home } = base;
  const { operations, models, confinement, config, documents } = options;
  const { registry, cliTools } = models;
  const shelf = openShelf(home);
  const speeds = openSpeeds(shelf.root);
  const queries = capabilitiesStore(store);
  const workers = openWorkers({
    folder: join(home, 'scratch'),
    confinement,
    atOnce: config.workers,
  });
  const headers = createHeaders(workers);
  const machine = createMachines(home);
  const needs = createMemoryNeeds({ shelf, headers, machine: () => readMachine(home) });
  models.measureLlama(needs);
  const catalogue = createCatalogues(http, config.catalogue);
  const library = createOllamaLibrary(http, () => ollamaAddress(registry.list()));
  const places = { folders: config.cliPath, source: config.capabilitySource };
  const survey = createSurvey({
    http,
    registry,
    shelf,
    store: queries,
    cliTools,
    confinement,
    sources: { catalogue, machine, languages: documents.shippedLanguages },
  });
  const engine = { ...engineProbe, packagesOf: createPackagesOf(machine) };
  const register = createRegistration({
    models,
    shelf,
    headers,
    ollamaUrl: () => ownAddress(ollamaAddress(registry.list())),
    freeBytes: needs.freeBytes,
  });
  const fate = {
    wasCancelled: queries.wasCancelled,
    busy: () => queries.busy('capabilities.install'),
  };
  const faultOf = async (path: string, signal: AbortSignal) => (await headers(path, signal)).fault;
  const begins = {
    install: operations.register(
      installOperation({
        clock,
        http,
        shelf,
        library,
        places,
        engine,
        models: { register, faultOf, fate },
      }),
    ),
    measure: operations.register(measureOperation({ clock, find: registry.find, speeds })),
    verify: operations.register(verifyOperation({ shelf })),
  };
  const report = createHardwareReport({
    machine,
    bandwidth: createBandwidth(machine, openBandwidthRecord(shelf.root)),
    catalogue,
    models: createFitted({ shelf, headers, catalogue }),
    speeds,
  });
  const ends = { unload: models.llama.unload, pulled: library };
  const service = { store, shelf, registry, survey, ends, places, operations: begins };
  const resource = capabilitiesResource({ service, report });
  return {
    /** Removes what is left of installations that nobody goes on with. */
    start: (): Promise<void> => sweepPartial(shelf, queries, clock.now()),
    /** Lists what does not work because of what is, or is not, installed. */
    check: (): Promise<CapabilityFault[]> => checkCapabilities(shelf, registry),
    resources: (): Resource[] => [resource],
  };
};

export type Capabilities = ReturnType<typeof openCapabilities>;

/** Ours: what is known of the machine is kept so long, in milliseconds. */
const KEPT_MS = 15_000;

/** Creates what reads the machine, at most once in a while. */
const createMachines = (home: string) => {
  let kept: { at: number; machine: Promise<Machine> } | undefined;
  return (): Promise<Machine> => {
    if (!kept || performance.now() - kept.at > KEPT_MS) {
      kept = { at: performance.now(), machine: readMachine(home) };
    }
    return kept.machine;
  };
};

/** Creates what returns the bandwidth of memory: the best that was ever measured on this machine. */
const createBandwidth = (machine: () => Promise<Machine>, kept: BandwidthRecord) => {
  let measured: Promise<number | null> | undefined;
  return (): Promise<number | null> => {
    measured ??= machine().then(async ({ cpu }) =>
      kept.best(await measureBandwidth(cpu.cores ?? 1)),
    );
    return measured;
  };
};

/** Creates what returns the packages of a plan for this machine. */
const createPackagesOf =
  (machine: () => Promise<Machine>) =>
  async ({ id }: InstallPlan): Promise<PackageSet | null> => {
    if (id !== LLAMA) return tesseractPackages(id.replace(/^tesseract:/, ''));
    const found = llamaPackages(hostOf(await machine()));
    return 'unsupported' in found ? null : found;
  };

interface FittedDeps {
  shelf: ReturnType<typeof openShelf>;
  headers: ReturnType<typeof createHeaders>;
  catalogue: ReturnType<typeof createCatalogues>;
}

/** Ours: the longest time for the headers of all installed models, in milliseconds. */
const HEADERS_MS = 60_000;

/** Creates what lists the models whose fit is shown: the installed ones, then the catalogue. */
const createFitted =
  ({ shelf, headers, catalogue }: FittedDeps) =>
  async (): Promise<FittedModel[]> => {
    const [installed, chosen] = await Promise.all([shelf.list(), catalogue()]);
    const signal = AbortSignal.timeout(HEADERS_MS);
    const found = await Promise.all(
      installed.map(async (each) => {
        const path = ggufOf(each);
        return path === null ? [] : [installedModel(each, await headers(path, signal))];
      }),
    );
    return [...found.flat(), ...cataloguedModels(chosen.catalogue, installed)];
  };
