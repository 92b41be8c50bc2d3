import { isNonGlibcLinuxSync } from 'detect-libc';
import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Registry } from '../models/module.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Machine } from '../providers/hardware/machine.js';
import type { ChosenCatalogue } from './catalogue.js';
import type { InstalledModels } from './installedmodels.js';
import type { InventorySnapshot } from './list.js';
import type { LlamaGpuUse } from './llamagpu.js';
import { ollamaAddress, ollamaState } from './ollamastate.js';
import type { EngineHost } from './packages.js';
import { ollamaSlug } from './planollama.js';
import type { MachineProgram } from './programs.js';
import type { CapabilitiesStore } from './queries.js';
import { readSource } from './source.js';
import { modelsUsing } from './usage.js';

export interface InventoryDeps {
  clock: Clock;
  http: Http;
  registry: Registry;
  shelf: InstalledModels;
  store: CapabilitiesStore;
  cliTools: CliTools;
  confinement: Confinement | null;
  sources: {
    catalogue(): Promise<ChosenCatalogue>;
    machine(): Promise<Machine>;
    llama(machine: Machine): LlamaGpuUse;
    languages(): Promise<string[]>;
    programs(): Promise<MachineProgram[]>;
    folder: string | null;
  };
}

export const createInventory = (deps: InventoryDeps) => {
  const { clock, http, registry, shelf, store, cliTools, confinement, sources } = deps;
  const ollama = () => ollamaState(http, ollamaAddress(registry.list()), clock);
  return {
    known: async (): Promise<InventorySnapshot> => {
      const [{ catalogue }, machine, installed, installing, server, tools, languages, programs] =
        await Promise.all([
          sources.catalogue(),
          sources.machine(),
          shelf.list(),
          store.busy('capabilities.install'),
          ollama(),
          cliTools.status(),
          sources.languages(),
          sources.programs(),
        ]);
      const { folder } = sources;
      return {
        catalogue,
        machine,
        llama: sources.llama(machine),
        source: folder === null ? null : await readSource(folder, catalogue.models),
        host: toEngineHost(machine),
        installed,
        installing,
        ollama: server,
        tools,
        confinement,
        languages,
        programs,
        usedBy: (slug) => modelsUsing(slug, registry.list()),
      };
    },
    installing: () => store.busy('capabilities.install'),
    needed: () => store.needed(),
    checking: () => store.busy('capabilities.verify'),
    pulled: async (slug: string): Promise<string[]> => {
      if (!slug.startsWith('ollama-')) return [];
      const { models } = await ollama();
      return models.filter((name) => ollamaSlug(name) === slug);
    },
    ollama,
  };
};

export type Inventory = ReturnType<typeof createInventory>;

export const toEngineHost = ({ gpus }: Machine): EngineHost => ({
  platform: process.platform,
  arch: process.arch,
  isGlibc: process.platform === 'linux' && !isNonGlibcLinuxSync(),
  gpus,
});
