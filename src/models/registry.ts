import { type Clock, iso } from '../kernel/clock.js';
import { unsealOrNull } from '../kernel/envelope.js';
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

/** Registered, from the environment, or the built-in digest. */
export interface RegisteredModel extends Omit<ModelAccess, 'provider' | 'apiKey' | 'keyOf'> {
  /** Name of a model that is not registered. */
  id: string;
  provider: ModelAccess['provider'] | 'digest';
  hasKey: boolean;
  credentialId: string | null;
  /** Reason why a required key is unavailable, or null. */
  whyKeyless(): string | null;
  /** Tried after the model, in this order, for every topic. */
  fallbacks: string[];
  isEnabled: boolean;
  source: ModelView['source'];
  model: Model;
  /** Null if the model creates no embeddings. */
  embedder: EmbeddingModel | null;
  /** Null if the model does not transcribe. */
  transcriber: TranscriptionModel | null;
}

export type TopicRoute = RoutingView['topics'][number];

export interface RegistryDeps {
  store: Store;
  open: OpenModel;
  openEmbedding: OpenEmbedding;
  openTranscription: OpenTranscription;
  unsealKey(id: string, sealed: string): string;
  clock: Clock;
  vault: Pick<Vault, 'newest' | 'termOf' | 'used'>;
  /** Model from the environment. Hides a registered one of the same name. */
  configured: ConfiguredModel | null;
}

export interface ConfiguredModel extends ModelAccess {
  fallbacks: string[];
}

/** Stands for the default model in fallbacks. */
export const DEFAULT_FALLBACK = 'default';
/** Topic of the embedding model. */
export const EMBEDDINGS = 'embeddings';
/** May name a model without a row. */
export const DEFAULT_FACT = 'default_model';
/** Topic of the transcription models. */
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
    const registered = models
      .filter((row) => !isFixed(row))
      .map((row) => buildRegisteredModel(deps, row));
    entries = [...(await Promise.all(registered)), ...fixed];
    routes = routeRows.map((row) => ({ ...row, fallbacks: JSON.parse(row.fallbacks) }));
    chosen = fact ?? null;
    follow();
  };

  return {
    /** Includes everything that was committed before the call. */
    refresh: (): Promise<void> => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    onRead: (call: () => void): void => {
      follow = call;
    },
    /**
     * The models of the installation, and those of the organization if `userId` is one: registered
     * models, newest first, then that of the environment, then the digest.
     */
    list: (userId: string | null = null) => entries.filter(isFor(userId)),
    find: (name: string, userId: string | null = null) =>
      entries.find((entry) => entry.name === name && isFor(userId)(entry)),
    /** Of all owners. */
    withFallback: (name: string) => entries.filter(({ fallbacks }) => fallbacks.includes(name)),
    routes: () => routes,
    isRouted: (topic: string): boolean => routes.some((route) => route.topic === topic),
    /** Without a choice: the model of the environment, the oldest registered one, or the digest. */
    default: (): string => {
      const usable = entries.filter(isFor(null)).filter(
        // Embedding and transcription models answer prompts only if they were chosen.
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

const isFor =
  (userId: string | null) =>
  ({ orgId }: RegisteredModel): boolean =>
    orgId === null || orgId === userId;

const fixedEntries = ({ configured, open }: RegistryDeps): RegisteredModel[] => {
  if (configured === null) return [builtin];
  const { apiKey, fallbacks, ...spec } = configured;
  const model = open(configured);
  return [
    {
      ...{ ...spec, ...fixedFields, id: spec.name, fallbacks, model },
      ...{ hasKey: apiKey !== undefined, source: 'settings' },
    },
    builtin,
  ];
};

const fixedFields = {
  orgId: null,
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
  id: digest.name,
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

const buildRegisteredModel = async (
  deps: RegistryDeps,
  row: ModelRow,
): Promise<RegisteredModel> => {
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
    orgId: row.user_id,
  };
  const { id, credential_id, key_sealed } = row;
  const isDamaged =
    credential_id === null && key_sealed !== null && opened(deps, id, key_sealed) === null;
  const whyKeyless = isDamaged
    ? () => 'the API key of the model is damaged. Set the API key again'
    : await loadExpiryCheck(deps, row);
  return {
    ...spec,
    id,
    fallbacks: JSON.parse(row.fallbacks),
    isEnabled: row.enabled === 1,
    hasKey: row.key_sealed !== null || row.credential_id !== null,
    credentialId: row.credential_id,
    whyKeyless,
    source: 'registry',
    model: deps.open({ ...spec, keyOf: () => loadApiKey(deps, row) }),
    embedder: deps.openEmbedding({ ...spec, keyOf: () => loadApiKey(deps, row) }),
    transcriber: deps.openTranscription({ ...spec, keyOf: () => loadApiKey(deps, row) }),
  };
};

/** Read each time, because the master key may have changed. */
const loadApiKey = async (deps: RegistryDeps, row: ModelRow): Promise<string | null> => {
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
  unsealOrNull(() => unsealKey(id, sealed));

/** Call the function before each use: a key in memory may outlive its credential. */
const loadExpiryCheck = async (
  { vault, clock }: RegistryDeps,
  { credential_id }: ModelRow,
): Promise<() => string | null> => {
  const { name, expiresAt = null } = (credential_id && (await vault.termOf(credential_id))) || {};
  return () =>
    expiresAt !== null && expiresAt <= iso(clock.now())
      ? `its credential ${name} has expired`
      : null;
};
