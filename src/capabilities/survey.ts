import { isNonGlibcLinuxSync } from 'detect-libc';
import type { Http } from '../kernel/http.js';
import type { Registry } from '../models/module.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Machine } from '../providers/hardware/machine.js';
import type { ChosenCatalogue } from './catalogue.js';
import type { Known } from './list.js';
import type { LlamaGpuUse } from './llamagpu.js';
import { ollamaAddress, ollamaState } from './ollamastate.js';
import type { EngineHost } from './packages.js';
import { ollamaSlug } from './planollama.js';
import type { MachineProgram } from './programs.js';
import type { CapabilitiesStore } from './queries.js';
import type { Shelf } from './shelf.js';
import { readSource } from './source.js';
import { modelsUsing } from './usage.js';

export interface SurveyDeps {
  http: Http;
  registry: Registry;
  shelf: Shelf;
  store: CapabilitiesStore;
  cliTools: CliTools;
  confinement: Confinement | null;
  sources: {
    catalogue(): Promise<ChosenCatalogue>;
    machine(): Promise<Machine>;
    /** Returns the GPUs of a machine that llama uses. */
    llama(machine: Machine): LlamaGpuUse;
    /** Lists Tesseract's codes of the languages that came with the daemon. */
    languages(): Promise<string[]>;
    /** Looks for the programs of the machine that are used where they are. */
    programs(): Promise<MachineProgram[]>;
    /** The folder that everything is installed from; null: none. */
    folder: string | null;
  };
}

/** Creates what collects all that is known of this installation at the moment. */
export const createSurvey = (deps: SurveyDeps) => {
  const { http, registry, shelf, store, cliTools, confinement, sources } = deps;
  const ollama = () => ollamaState(http, ollamaAddress(registry.list()));
  return {
    known: async (): Promise<Known> => {
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
        host: hostOf(machine),
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
    /** Lists the slugs of what is being installed. */
    installing: () => store.busy('capabilities.install'),
    /** Lists the slugs of what is being installed, and of what that needs. */
    needed: () => store.needed(),
    /** Lists the slugs of what is being checked. */
    checking: () => store.busy('capabilities.verify'),
    /** Lists the models that Ollama has pulled with that slug. */
    pulled: async (slug: string): Promise<string[]> => {
      if (!slug.startsWith('ollama-')) return [];
      const { models } = await ollama();
      return models.filter((name) => ollamaSlug(name) === slug);
    },
    ollama,
  };
};

export type Survey = ReturnType<typeof createSurvey>;

/** Returns the parts of the machine that decide which program runs on it. */
export const hostOf = ({ gpus }: Machine): EngineHost => ({
  platform: process.platform,
  arch: process.arch,
  isGlibc: process.platform === 'linux' && !isNonGlibcLinuxSync(),
  gpus,
});
