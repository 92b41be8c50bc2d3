import type { Http } from '../kernel/http.js';
import type { Registry } from '../models/module.js';
import type { CliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Machine } from '../providers/hardware/machine.js';
import type { ChosenCatalogue } from './catalogue.js';
import type { Known } from './list.js';
import { ollamaAddress, ollamaState } from './ollamastate.js';
import type { EngineHost } from './packages.js';
import { ollamaSlug } from './plan.js';
import type { CapabilitiesStore } from './queries.js';
import type { Shelf } from './shelf.js';
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
    /** Lists Tesseract's codes of the languages that came with the daemon. */
    languages(): Promise<string[]>;
  };
}

/** Creates what collects all that is known of this installation at the moment. */
export const createSurvey = (deps: SurveyDeps) => {
  const { http, registry, shelf, store, cliTools, confinement, sources } = deps;
  const ollama = () => ollamaState(http, ollamaAddress(registry.list()));
  return {
    known: async (): Promise<Known> => {
      const [{ catalogue }, machine, installed, installing, server, tools, languages] =
        await Promise.all([
          sources.catalogue(),
          sources.machine(),
          shelf.list(),
          store.busy('capabilities.install'),
          ollama(),
          cliTools.status(),
          sources.languages(),
        ]);
      return {
        catalogue,
        host: hostOf(machine),
        installed,
        installing,
        ollama: server,
        tools,
        confinement,
        languages,
        usedBy: (slug) => modelsUsing(slug, registry.list()),
      };
    },
    /** Lists the slugs of what is being installed. */
    installing: () => store.busy('capabilities.install'),
    /** Returns the name of a model that Ollama has pulled, by its slug; null if it is none. */
    pulled: async (slug: string): Promise<string | null> => {
      if (!slug.startsWith('ollama-')) return null;
      const { models } = await ollama();
      return models.find((name) => ollamaSlug(name) === slug) ?? null;
    },
    ollama,
  };
};

export type Survey = ReturnType<typeof createSurvey>;

/** Returns the parts of the machine that decide which program runs on it. */
export const hostOf = ({ gpus }: Machine): EngineHost => ({
  platform: process.platform,
  arch: process.arch,
  isGlibc: isGlibc(),
  gpus,
});

/** Node's report names the version of glibc where it runs on it. */
const isGlibc = (): boolean => {
  if (process.platform !== 'linux') return false;
  const report: unknown = process.report?.getReport();
  const header: unknown = typeof report === 'object' && report ? Reflect.get(report, 'header') : {};
  return typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header;
};
