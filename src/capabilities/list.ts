import type { CliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Catalogue } from './catalogue.js';
import type { Capability } from './contract.js';
import type { OllamaState } from './ollamastate.js';
import { type EngineHost, LLAMA, tesseractLanguages } from './packages.js';
import {
  type InstallPlan,
  installIdOf,
  languageSlug,
  type NoPlan,
  ollamaSlug,
  planInstall,
  slugOf,
} from './plan.js';
import type { InstalledCapability } from './shelf.js';
import { damageOf } from './verify.js';

/** All that is known of this installation, from which the list follows. */
export interface Known {
  catalogue: Catalogue;
  host: EngineHost;
  installed: InstalledCapability[];
  /** Slugs of what is being installed. */
  installing: string[];
  ollama: OllamaState;
  tools: Awaited<ReturnType<CliTools['status']>>;
  confinement: Pick<Confinement, 'kind' | 'detail'> | null;
  /** Tesseract's codes of the languages that came with the daemon. */
  languages: string[];
  /** Returns what uses the capability with that slug. */
  usedBy(slug: string): string[];
}

const NOTHING = { version: null, path: null, reason: null, install: null };

/** Builds the list: what is installed, what runs beside the daemon, and what can be installed. */
export const capabilitiesOf = async (known: Known): Promise<Capability[]> => [
  runtimeOf(known),
  ...(await Promise.all(known.installed.map((each) => installedOf(known, each)))),
  ...missingOf(known),
  ollamaOf(known),
  ...known.ollama.models.map((name) => pulledOf(known, name)),
  confinementOf(known),
  ...known.tools.map((tool) => toolOf(tool)),
];

const runtimeOf = (known: Known): Capability => ({
  ...NOTHING,
  id: 'node',
  kind: 'runtime',
  name: 'Node.js',
  status: 'available',
  version: process.version.slice(1),
  path: process.execPath,
  usedBy: known.usedBy('node'),
});

const installedOf = async (known: Known, found: InstalledCapability): Promise<Capability> => {
  const { slug, kind, name, version, folder } = found;
  const damage = await damageOf(found);
  const lacks = kind === 'model' && hasNoEngine(known, found);
  const reason = damage ?? (lacks ? 'It needs llama: adjutant capabilities install llama' : null);
  return {
    id: slug,
    kind,
    name,
    status: reason === null ? 'available' : 'degraded',
    version,
    path: folder,
    reason,
    usedBy: known.usedBy(slug),
    install: null,
  };
};

const hasNoEngine = ({ installed }: Known, { id }: InstalledCapability): boolean =>
  id.startsWith('gguf:') && !installed.some(({ slug }) => slug === LLAMA);

/** Everything that can be installed and is not there yet. */
const missingOf = (known: Known): Capability[] => {
  const { catalogue, installed, languages } = known;
  const models = catalogue.models.flatMap((model) =>
    model.files.map((file) => ({
      id: installIdOf(model.kind === 'speech' ? 'whisper' : 'gguf', model, file),
      slug: slugOf(model, file),
      kind: 'model' as const,
      name: `${model.name} ${file.quantization}`,
    })),
  );
  const spoken = tesseractLanguages().map((language) => ({
    id: `tesseract:${language}`,
    slug: languageSlug(language),
    kind: 'language' as const,
    name: `Recognition of text in ${language}`,
  }));
  const engine = { id: LLAMA, slug: LLAMA, kind: 'engine' as const, name: ENGINE };
  const isThere = ({ slug, id }: { slug: string; id: string }): boolean =>
    installed.some((each) => each.slug === slug) ||
    languages.some((language) => `tesseract:${language}` === id);
  const missing = [engine, ...models, ...spoken].filter((each) => !isThere(each));
  return [
    ...languages.map((language) => shippedLanguage(language)),
    ...missing.map((each) => missingCapability(known, each)),
  ];
};

const ENGINE = 'llama.cpp (node-llama-cpp)';

const shippedLanguage = (language: string): Capability => ({
  ...NOTHING,
  id: languageSlug(language),
  kind: 'language',
  name: `Recognition of text in ${language}`,
  status: 'available',
  usedBy: [],
});

interface Missing {
  id: string;
  slug: string;
  kind: Capability['kind'];
  name: string;
}

const missingCapability = (known: Known, { id, slug, kind, name }: Missing): Capability => {
  const plan = planInstall({ id }, { models: known.catalogue.models, host: known.host });
  const isInstalling = known.installing.includes(slug);
  const isPlanned = 'via' in plan;
  return {
    id,
    kind,
    name,
    status: isInstalling ? 'installing' : isPlanned ? 'missing' : 'unsupported',
    version: isPlanned ? plan.version : null,
    path: null,
    reason: isPlanned ? 'It is not installed' : sentence(plan),
    usedBy: known.usedBy(slug),
    install: isPlanned ? factsOf(plan) : null,
  };
};

const sentence = ({ fault }: NoPlan): string => `It ${fault}`;

const factsOf = ({ bytes, licence, source, needs }: InstallPlan): Capability['install'] => ({
  bytes,
  licence: licence?.name ?? null,
  licenceUrl: licence?.url ?? null,
  mustAccept: licence?.mustAccept ?? false,
  source,
  needs,
});

const ollamaOf = ({ ollama, usedBy }: Known): Capability => ({
  ...NOTHING,
  id: 'ollama',
  kind: 'engine',
  name: 'Ollama',
  status: ollama.fault === null ? 'available' : 'missing',
  path: ollama.baseUrl,
  reason: ollama.fault,
  usedBy: usedBy('ollama'),
});

const pulledOf = ({ usedBy }: Known, name: string): Capability => ({
  ...NOTHING,
  id: ollamaSlug(name),
  kind: 'model',
  name: `${name} (Ollama)`,
  status: 'available',
  usedBy: usedBy(ollamaSlug(name)),
});

const confinementOf = ({ confinement }: Known): Capability => ({
  ...NOTHING,
  id: 'confinement',
  kind: 'tool',
  name: 'Confinement of programs',
  status: confinement === null ? 'missing' : confinement.kind === 'none' ? 'degraded' : 'available',
  reason: confinement === null || confinement.kind === 'none' ? CONFINEMENT_MISSING : null,
  version: confinement?.kind ?? null,
  usedBy: [],
});

const CONFINEMENT_MISSING =
  'No confinement works here: install bubblewrap (Linux), or run it where user namespaces are allowed';

const toolOf = ({
  name,
  available,
  version,
  path,
  loggedIn,
}: Known['tools'][number]): Capability => ({
  ...NOTHING,
  id: name,
  kind: 'tool',
  name: `${name} (command-line tool)`,
  status: path === null ? 'missing' : available && loggedIn ? 'available' : 'degraded',
  version,
  path,
  reason: reasonOf({ path, available, loggedIn, name }),
  usedBy: [],
});

const reasonOf = (tool: {
  path: string | null;
  available: boolean;
  loggedIn: boolean;
  name: string;
}): string | null => {
  if (tool.path === null) return 'It is not installed';
  if (!tool.available) return 'It does not run confined here';
  return tool.loggedIn ? null : `It is not logged in: adjutant models cli login ${tool.name}`;
};
