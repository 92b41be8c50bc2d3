import { type Clock, iso } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import { digest } from '../providers/llm/digest.js';
import type { EmbeddingModel } from '../providers/llm/embeddings.js';
import type { Model } from '../providers/llm/model.js';
import type { TranscriptionModel } from '../providers/llm/transcription.js';
import { readFact } from '../store/facts.js';
import type { Store } from '../store/store.js';
import { type ModelRow, modelRouteTable, modelTable } from '../store/tables/models.js';
import type { Vault } from '../vault/module.js';
import type { ModelView, RoutingView } from './contract.js';
import type { ModelAccess, OpenEmbedding, OpenModel, OpenTranscription, Supports } from './open.js';

/**
 * A model that may be named: one of the registry, the one in the settings, or the built-in digest.
 */
export interface RegisteredModel extends Omit<ModelAccess, 'provider' | 'apiKey' | 'keyOf'> {
  provider: ModelAccess['provider'] | 'digest';
  hasKey: boolean;
  credentialId: string | null;
  /** Returns why it has no key at present, though it should have one. */
  whyKeyless(): string | null;
  /** Models that are tried after it, in this order, whatever the topic. */
  fallbacks: string[];
  isEnabled: boolean;
  source: ModelView['source'];
  model: Model;
  /** Makes vectors; null: it makes none. */
  embedder: EmbeddingModel | null;
  /** Turns speech into text; null: it does not. */
  transcriber: TranscriptionModel | null;
}

/** The models of a topic, in the order in which they are tried. */
export type TopicRoute = RoutingView['topics'][number];

export interface RegistryDeps {
  store: Store;
  open: OpenModel;
  openEmbedding: OpenEmbedding;
  openTranscription: OpenTranscription;
  unsealKey(id: string, sealed: string): string;
  clock: Clock;
  vault: Pick<Vault, 'newest' | 'termOf' | 'used'>;
  /** The model from the environment; it hides one of the same name in the registry. */
  configured: ConfiguredModel | null;
}

/** The model of the settings. */
export interface ConfiguredModel extends ModelAccess {
  fallbacks: string[];
}

/** Name among fallbacks that means the default model, whichever it is; no model has this name. */
export const DEFAULT_FALLBACK = 'default';
/** The topic whose model makes the vectors of texts. */
export const EMBEDDINGS = 'embeddings';
/** Name of the fact that holds the default model's name, which may be a model without a row. */
export const DEFAULT_FACT = 'default_model';
/** The topic whose models turn speech into text. */
export const TRANSCRIPTION = 'transcription';
export const ALL: Supports = {
  tools: true,
  vision: false,
  streaming: true,
  embeddings: false,
  transcription: false,
};

export const createRegistry = (deps: RegistryDeps) => {
  const { store } = deps;
  const fixed = fixedEntries(deps);
  let entries = fixed;
  let routes: TopicRoute[] = [];
  let chosen: string | null = null;
  let reading = Promise.resolve();
  let follow: () => void = () => undefined;

  const read = async (): Promise<void> => {
    const [models, routeRows, fact] = await Promise.all([
      store.db.selectFrom('models').select(modelTable.columns).orderBy('id', 'desc').execute(),
      store.db
        .selectFrom('model_routes')
        .select(modelRouteTable.columns)
        .orderBy('topic')
        .execute(),
      readFact(store, DEFAULT_FACT),
    ]);
    const isFixed = ({ name }: ModelRow) => fixed.some((entry) => entry.name === name);
    const registered = models.filter((row) => !isFixed(row)).map((row) => entryOf(deps, row));
    entries = [...(await Promise.all(registered)), ...fixed];
    routes = routeRows.map((row) => ({ ...row, fallbacks: JSON.parse(row.fallbacks) }));
    chosen = fact ?? null;
    follow();
  };

  return {
    /** Reads everything again, including all that was committed before the call. */
    refresh: (): Promise<void> => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    /** Registers the function that is called after each reading. */
    onRead: (call: () => void): void => {
      follow = call;
    },
    /**
     * Returns the models: the newest of the registry first, then the one in the settings, then the
     * digest.
     */
    list: () => entries,
    find: (name: string) => entries.find((entry) => entry.name === name),
    /** Returns the routes, sorted by topic. */
    routes: () => routes,
    /** Returns true if models were chosen for the topic. */
    isRouted: (topic: string): boolean => routes.some((route) => route.topic === topic),
    /**
     * Returns the name of the model for prompts without a named or routed model. Ours: if none was
     * chosen, this is the one in the settings, else the oldest in the registry, else the digest.
     */
    default: (): string => {
      const usable = entries.filter(
        // A model that makes vectors or hears speech answers no prompts, unless it was chosen to.
        ({ isEnabled, embedding, supports: { transcription }, name }) =>
          isEnabled && (!(embedding || transcription) || name === chosen),
      );
      const entry =
        usable.find(({ name }) => name === chosen) ??
        usable.find(({ source }) => source === 'settings') ??
        usable.findLast(({ source }) => source === 'registry');
      return entry?.name ?? digest.name;
    },
  };
};

export type Registry = ReturnType<typeof createRegistry>;

const fixedEntries = ({ configured, open }: RegistryDeps): RegisteredModel[] => {
  if (configured === null) return [builtin];
  const { apiKey, fallbacks, ...spec } = configured;
  const model = open(configured);
  return [
    { ...spec, ...fixedFields, fallbacks, hasKey: apiKey !== undefined, source: 'settings', model },
    builtin,
  ];
};

const fixedFields = {
  fallbacks: [],
  isEnabled: true,
  credentialId: null,
  whyKeyless: () => null,
  embedding: null,
  embedder: null,
  transcriber: null,
};

const builtin: RegisteredModel = {
  ...fixedFields,
  name: digest.name,
  provider: 'digest',
  modelId: digest.name,
  baseUrl: null,
  hasKey: false,
  contextWindow: digest.contextWindow,
  maxOutputTokens: null,
  supports: { ...ALL, tools: false },
  price: null,
  source: 'builtin',
  model: digest,
};

const entryOf = async (deps: RegistryDeps, row: ModelRow): Promise<RegisteredModel> => {
  const spec = {
    name: row.name,
    provider: row.provider,
    modelId: row.model_id,
    baseUrl: row.base_url,
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens,
    supports: { transcription: false, ...JSON.parse(row.supports) },
    price: row.price === null ? null : JSON.parse(row.price),
    embedding: row.embedding === null ? null : JSON.parse(row.embedding),
  };
  const { id, credential_id, key_sealed } = row;
  const isDamaged =
    credential_id === null && key_sealed !== null && opened(deps, id, key_sealed) === null;
  const whyKeyless = isDamaged
    ? () => 'its API key is damaged and must be set again'
    : await expiryOf(deps, row);
  return {
    ...spec,
    fallbacks: JSON.parse(row.fallbacks),
    isEnabled: row.enabled === 1,
    hasKey: row.key_sealed !== null || row.credential_id !== null,
    credentialId: row.credential_id,
    whyKeyless,
    source: 'registry',
    model: deps.open({ ...spec, keyOf: () => keyOf(deps, row) }),
    embedder: deps.openEmbedding({ ...spec, keyOf: () => keyOf(deps, row) }),
    transcriber: deps.openTranscription({ ...spec, keyOf: () => keyOf(deps, row) }),
  };
};

/** Reads the key from the database each time, since the master key may have changed. */
const keyOf = async (deps: RegistryDeps, row: ModelRow): Promise<string | null> => {
  const { id, credential_id } = row;
  if (credential_id !== null) {
    deps.vault.used(credential_id);
    return deps.vault.newest(credential_id);
  }
  if (row.key_sealed === null) return null;
  const found = await deps.store.db
    .selectFrom('models')
    .select('key_sealed')
    .where('id', '=', id)
    .executeTakeFirst();
  return found?.key_sealed ? opened(deps, id, found.key_sealed) : null;
};

const opened = ({ unsealKey }: RegistryDeps, id: string, sealed: string): string | null =>
  unlessShut(() => unsealKey(id, sealed));

/** Returns a function to call before each use, since a key in memory may outlive its credential. */
const expiryOf = async (
  { vault, clock }: RegistryDeps,
  { credential_id }: ModelRow,
): Promise<() => string | null> => {
  const { name, expiresAt = null } = (credential_id && (await vault.termOf(credential_id))) || {};
  return () =>
    expiresAt !== null && expiresAt <= iso(clock.now())
      ? `its credential ${name} has expired`
      : null;
};
