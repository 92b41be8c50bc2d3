import type { CliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { Machine } from '../providers/hardware/machine.js';
import type { Catalogue } from './catalogue.js';
import type { Capability, CapabilitySource } from './contract.js';
import type { InstalledCapability } from './installedmodels.js';
import type { InstallPlan, PlanRefusal } from './installplan.js';
import type { LlamaGpuUse } from './llamagpu.js';
import { memoryWarningFor } from './memorywarning.js';
import type { OllamaState } from './ollamastate.js';
import { ENGINES, type EngineHost, LLAMA, tesseractLanguages, WHISPER } from './packages.js';
import { buildInstallId, buildModelSlug, languageSlug, planInstall } from './plan.js';
import { ollamaSlug } from './planollama.js';
import { type MachineProgram, toProgramCapability } from './programs.js';
import type { SourceFolder } from './source.js';
import { findDamage } from './verify.js';

export interface InventorySnapshot {
  catalogue: Catalogue;
  machine: Machine;
  llama: LlamaGpuUse;
  /** null: the network. */
  source: SourceFolder | null;
  host: EngineHost;
  installed: InstalledCapability[];
  /** Slugs. */
  installing: string[];
  ollama: OllamaState;
  tools: Awaited<ReturnType<CliTools['status']>>;
  programs: MachineProgram[];
  confinement: Pick<Confinement, 'kind' | 'detail'> | null;
  /** Tesseract language codes included with the daemon. */
  languages: string[];
  usedBy(slug: string): string[];
}

const NOTHING = {
  version: null,
  path: null,
  reason: null,
  bytes: null,
  licence: null,
  install: null,
};

export const buildCapabilityList = async (known: InventorySnapshot): Promise<Capability[]> => [
  describeRuntime(known),
  ...(await Promise.all(known.installed.map((each) => describeInstalled(known, each)))),
  ...listMissing(known),
  describeOllama(known),
  ...known.ollama.models.map((name) => describePulled(known, name)),
  describeConfinement(known),
  ...known.tools.map((tool) => describeTool(tool)),
  ...known.programs.map(toProgramCapability),
];

const describeRuntime = (known: InventorySnapshot): Capability => ({
  ...NOTHING,
  id: 'node',
  kind: 'runtime',
  name: 'Node.js',
  status: 'available',
  version: process.version.slice(1),
  path: process.execPath,
  usedBy: known.usedBy('node'),
});

const describeInstalled = async (
  known: InventorySnapshot,
  found: InstalledCapability,
): Promise<Capability> => {
  const { slug, kind, name, version, folder, bytes, licence } = found;
  const damage = await findDamage(found);
  const lacked = kind === 'model' ? missingEngine(known, found) : undefined;
  const reason =
    damage ??
    (lacked
      ? `The model needs ${lacked}. Install ${lacked} with: adjutant capabilities install ${lacked}`
      : null);
  return {
    id: slug,
    kind,
    name,
    status: reason === null ? 'available' : 'degraded',
    version,
    path: folder,
    reason,
    bytes,
    licence,
    usedBy: known.usedBy(slug),
    install: null,
  };
};

const missingEngine = (
  { installed }: InventorySnapshot,
  { id }: InstalledCapability,
): string | undefined =>
  [
    ...(id.startsWith('gguf:') ? [LLAMA] : []),
    ...(id.startsWith('whisper:') ? [WHISPER] : []),
  ].find((engine) => !installed.some(({ slug }) => slug === engine));

const listMissing = (known: InventorySnapshot): Capability[] => {
  const { catalogue, installed, languages, source } = known;
  const models = catalogue.models.flatMap((model) =>
    model.files.map((file) => ({
      id: buildInstallId(model.kind === 'speech' ? 'whisper' : 'gguf', model, file),
      slug: buildModelSlug(model, file),
      kind: 'model' as const,
      name: `${model.name} ${file.quantization}`,
    })),
  );
  const spoken = tesseractLanguages().map((language) => ({
    id: `tesseract:${language}`,
    slug: languageSlug(language),
    kind: 'language' as const,
    name: `Text recognition: ${language}`,
  }));
  const heldItems = (source?.held ?? [])
    .filter(({ kind, slug }) => kind === 'model' && !models.some((each) => each.slug === slug))
    .map(({ id, slug, name }) => ({ id, slug, kind: 'model' as const, name }));
  const engines = ENGINES.map(({ slug, name }) => ({
    id: slug,
    slug,
    kind: 'engine' as const,
    name,
  }));
  const isThere = ({ slug, id }: { slug: string; id: string }): boolean =>
    installed.some((each) => each.slug === slug) ||
    languages.some((language) => `tesseract:${language}` === id);
  const missing = [...engines, ...models, ...heldItems, ...spoken].filter((each) => !isThere(each));
  return [
    ...languages.map((language) => shippedLanguage(language)),
    ...missing.map((each) => missingCapability(known, each)),
  ];
};

const shippedLanguage = (language: string): Capability => ({
  ...NOTHING,
  id: languageSlug(language),
  kind: 'language',
  name: `Text recognition: ${language}`,
  status: 'available',
  usedBy: [],
});

interface Missing {
  id: string;
  slug: string;
  kind: Capability['kind'];
  name: string;
}

const missingCapability = (
  known: InventorySnapshot,
  { id, slug, kind, name }: Missing,
): Capability => {
  const { source, installing, usedBy } = known;
  const plan = planInstall({ id }, buildPlanInput(known));
  const isPlanned = 'via' in plan;
  const isHere = source === null || source.held.some((each) => each.slug === slug);
  const status = isPlanned ? 'missing' : 'unsupported';
  const reason = isHere ? 'It is not installed' : 'The source folder does not contain it';
  return {
    ...NOTHING,
    id,
    kind,
    name,
    status: installing.includes(slug) ? 'installing' : status,
    version: isPlanned ? plan.version : null,
    reason: installing.includes(slug) ? null : isPlanned ? reason : sentence(plan),
    usedBy: usedBy(slug),
    install: isPlanned && isHere ? installDetails(known, plan) : null,
  };
};

export const buildPlanInput = ({
  catalogue: { models },
  host,
  source,
  installed,
}: InventorySnapshot) => ({
  models,
  host,
  held: [...(source?.held ?? []), ...installed].filter(({ kind }) => kind === 'model'),
});

const sentence = ({ fault }: PlanRefusal): string => `It ${fault}`;

const installDetails = (known: InventorySnapshot, plan: InstallPlan): Capability['install'] => {
  const { bytes, licence, source, needs } = plan;
  return {
    bytes,
    licence: licence?.name ?? null,
    licenceUrl: licence?.url ?? null,
    mustAccept: licence?.mustAccept ?? false,
    source: known.source?.path ?? source,
    needs,
    warning: memoryWarningFor(plan, known),
  };
};

export const shownSource = ({ source, installed }: InventorySnapshot): CapabilitySource | null =>
  source && {
    path: source.path,
    fault: source.fault,
    items: source.held.map(({ id, slug, kind, name, version, bytes, licence }) => ({
      id,
      slug,
      kind,
      name,
      version,
      bytes,
      licence,
      installed: installed.some((each) => each.slug === slug),
    })),
  };

const describeOllama = ({ ollama, usedBy }: InventorySnapshot): Capability => ({
  ...NOTHING,
  id: 'ollama',
  kind: 'engine',
  name: 'Ollama',
  status: ollama.fault === null ? 'available' : 'missing',
  path: ollama.baseUrl,
  reason: ollama.fault,
  usedBy: usedBy('ollama'),
});

const describePulled = ({ usedBy }: InventorySnapshot, name: string): Capability => ({
  ...NOTHING,
  id: ollamaSlug(name),
  kind: 'model',
  name: `${name} (Ollama)`,
  status: 'available',
  usedBy: usedBy(ollamaSlug(name)),
});

const describeConfinement = ({ confinement }: InventorySnapshot): Capability => ({
  ...NOTHING,
  id: 'confinement',
  kind: 'tool',
  name: 'Program sandbox',
  status: confinement === null ? 'missing' : confinement.kind === 'none' ? 'degraded' : 'available',
  reason: confinement === null || confinement.kind === 'none' ? CONFINEMENT_MISSING : null,
  version: confinement?.kind ?? null,
  usedBy: [],
});

const CONFINEMENT_MISSING =
  'No sandbox is available. Install bubblewrap (Linux), or run Adjutant where user namespaces are allowed';

const describeTool = ({
  name,
  available,
  version,
  path,
  loggedIn,
}: InventorySnapshot['tools'][number]): Capability => ({
  ...NOTHING,
  id: name,
  kind: 'tool',
  name: `${name} (command-line tool)`,
  status: path === null ? 'missing' : available && loggedIn ? 'available' : 'degraded',
  version,
  path,
  reason: formatUnavailableReason({ path, available, loggedIn, name }),
  usedBy: [],
});

const formatUnavailableReason = (tool: {
  path: string | null;
  available: boolean;
  loggedIn: boolean;
  name: string;
}): string | null => {
  if (tool.path === null) return 'It is not installed';
  if (!tool.available) return 'It does not run in the sandbox';
  return tool.loggedIn
    ? null
    : `It is not logged in. Log in with: adjutant models cli login ${tool.name}`;
};
