import { join } from 'node:path';
import type { Base } from '../base.js';
import { type Config, ollamaFolders } from '../config.js';
import type { Documents } from '../documents/module.js';
import type { Resource } from '../kernel/route.js';
import { createMissingFileCheck, type ModelsModule } from '../models/module.js';
import { type Operations, openWorkers } from '../operations/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import { measureBandwidth } from '../providers/hardware/bandwidth.js';
import type { Machine } from '../providers/hardware/machine.js';
import { readMachine } from '../providers/hardware/read.js';
import { type BandwidthRecord, openBandwidthRecord } from './bandwidthrecord.js';
import { createCatalogues } from './catalogue.js';
import { type CapabilityFault, checkCapabilities } from './check.js';
import { createFittedModels } from './choices.js';
import { engineProbe } from './engine.js';
import { createHardwareReport, memoryOn } from './hardware.js';
import { createHeaders } from './headers.js';
import { installOperation } from './install.js';
import { openInstalledModels } from './installedmodels.js';
import type { InstallPlan } from './installplan.js';
import { createInventory, toEngineHost } from './inventory.js';
import { llamaGpuUse } from './llamagpu.js';
import { measureOperation, openSpeeds } from './measure.js';
import { createMemoryNeeds } from './memoryneeds.js';
import { createOllamaLibrary } from './ollama.js';
import { ollamaAddress, ownAddress } from './ollamastate.js';
import {
  enginePackages,
  findNpmEngine,
  LLAMA,
  type PackageSet,
  tesseractPackages,
} from './packages.js';
import { deletePartialInstalls } from './partialinstalls.js';
import { findMachinePrograms } from './programs.js';
import { capabilitiesStore } from './queries.js';
import { createLlamaFactsReader, createModelRegistration } from './registration.js';
import { capabilitiesResource } from './routes.js';
import { checkSettings } from './settings.js';
import { namesUsing } from './usage.js';
import { verifyOperation } from './verify.js';

export type { CapabilityFault } from './check.js';

interface CapabilitiesOptions {
  operations: Operations;
  models: Pick<
    ModelsModule,
    'registry' | 'health' | 'cliTools' | 'register' | 'llama' | 'measureLlama' | 'describeLlama'
  >;
  confinement: Confinement | null;
  config: Config;
  documents: Pick<Documents, 'shippedLanguages'>;
}

export const openCapabilities = (base: Base, options: CapabilitiesOptions) => {
  const { store, clock, http, home } = base;
  const { operations, models, confinement, config, documents } = options;
  const { registry, cliTools } = models;
  const shelf = openInstalledModels(home);
  const speeds = openSpeeds(shelf.root);
  const queries = capabilitiesStore(store);
  const workers = openWorkers({
    folder: join(home, 'scratch'),
    confinement,
    atOnce: config.workers,
  });
  const headers = createHeaders(workers);
  const machine = createMachines(home);
  const llama = (on: Machine) => llamaGpuUse(toEngineHost(on), config.llamaGpu);
  const needs = createMemoryNeeds({ clock, headers, machine: () => readMachine(home) });
  models.measureLlama(needs);
  const catalogue = createCatalogues(http, config.catalogue);
  const library = createOllamaLibrary(http, {
    address: () => ollamaAddress(registry.list()),
    folders: ollamaFolders(),
    clock,
  });
  const places = { folders: config.cliPath, source: config.capabilitySource };
  const survey = createInventory({
    clock,
    http,
    registry,
    shelf,
    store: queries,
    cliTools,
    confinement,
    sources: {
      catalogue,
      machine,
      llama,
      languages: documents.shippedLanguages,
      programs: () => findMachinePrograms(config.voicePath),
      folder: places.source,
    },
  });
  const engine = { ...engineProbe, packagesOf: createPackageResolver(machine) };
  const memory = async () => {
    const now = await readMachine(home);
    return memoryOn(now, llama(now).gpus);
  };
  models.describeLlama(createLlamaFactsReader({ clock, shelf, headers, memory }));
  const register = createModelRegistration({
    clock,
    models,
    shelf,
    headers,
    ollamaUrl: () => ownAddress(ollamaAddress(registry.list())),
    memory,
  });
  const fate = {
    wasCancelled: queries.wasCancelled,
    busy: () => queries.busy('capabilities.install'),
  };
  const faultOf = async (path: string, signal: AbortSignal) => (await headers(path, signal)).fault;
  const unload = (slug: string) => models.llama.unload(slug === LLAMA ? null : slug);
  const renewed = (slug: string): void => {
    for (const name of namesUsing(slug, registry.list())) models.health.forget(name);
  };
  const begins = {
    install: operations.register(
      installOperation({
        clock,
        http,
        shelf,
        unload,
        library,
        places,
        engine,
        models: { register, faultOf, fate, renewed },
      }),
    ),
    measure: operations.register(measureOperation({ clock, find: registry.find, speeds })),
    verify: operations.register(verifyOperation({ shelf, unload, renewed })),
  };
  const report = createHardwareReport({
    machine,
    bandwidth: createBandwidth(machine, openBandwidthRecord(shelf.root)),
    catalogue,
    models: createFittedModels({ shelf, headers, catalogue, folder: places.source, clock }),
    speeds,
    llama,
  });
  const ends = { unload, pulled: library };
  const service = { store, shelf, registry, survey, ends, places, operations: begins };
  const resource = capabilitiesResource({ service, report });
  return {
    start: (): Promise<void> => deletePartialInstalls(shelf, queries, clock.now()),
    check: (): Promise<CapabilityFault[]> =>
      checkCapabilities({
        shelf,
        registry,
        catalogue,
        findMissingFile: createMissingFileCheck(home),
        hasSource: config.capabilitySource !== null,
      }),
    settingFaults: (): Promise<string[]> =>
      checkSettings({
        catalogue: config.catalogue === null ? null : catalogue,
        source: config.capabilitySource,
        clock,
      }),
    resources: (): Resource[] => [resource],
  };
};

export type Capabilities = ReturnType<typeof openCapabilities>;

const KEPT_MS = 15_000;

const createMachines = (home: string) => {
  let stored: { at: number; machine: Promise<Machine> } | undefined;
  return (): Promise<Machine> => {
    if (!stored || performance.now() - stored.at > KEPT_MS) {
      stored = { at: performance.now(), machine: readMachine(home) };
    }
    return stored.machine;
  };
};

/** The best value ever measured on this machine. */
const createBandwidth = (machine: () => Promise<Machine>, stored: BandwidthRecord) => {
  let measured: Promise<number | null> | undefined;
  return (): Promise<number | null> => {
    measured ??= machine().then(async ({ cpu }) =>
      stored.best(await measureBandwidth(cpu.cores ?? 1)),
    );
    return measured;
  };
};

const createPackageResolver =
  (machine: () => Promise<Machine>) =>
  async ({ id }: InstallPlan): Promise<PackageSet | null> => {
    const engine = findNpmEngine(id);
    if (!engine) return tesseractPackages(id.replace(/^tesseract:/, ''));
    const found = enginePackages(engine, toEngineHost(await machine()));
    return 'unsupported' in found ? null : found;
  };
