import { type Clock, iso } from '../kernel/clock.js';
import { unlessShut } from '../kernel/envelope.js';
import { digest } from '../providers/llm/digest.js';
import type { Model } from '../providers/llm/model.js';
import type { Store } from '../store/store.js';
import type { ModelRouteRow, ModelRow } from '../store/tables/models.js';
import type { Vault } from '../vault/vault.js';
import type { ModelAccess, OpenModel, Supports } from './open.js';

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
  source: 'registry' | 'settings' | 'builtin';
  model: Model;
}

/** The models of a topic, in the order in which they are tried. */
export interface TopicRoute {
  topic: string;
  primary: string;
  fallbacks: string[];
}

export interface Registry {
  /** Reads everything again, including all that was committed before the call. */
  refresh(): Promise<void>;
  /**
   * Returns the models: the newest of the registry first, then the one in the settings, then the
   * digest.
   */
  list(): RegisteredModel[];
  find(name: string): RegisteredModel | undefined;
  /** Returns the routes, sorted by topic. */
  routes(): TopicRoute[];
  /**
   * Returns the name of the model for prompts without a named or routed model. Ours: if none was
   * chosen, this is the one in the settings, else the oldest in the registry, else the digest.
   */
  default(): string;
}

export interface RegistryDeps {
  store: Store;
  open: OpenModel;
  unsealKey(id: string, sealed: string): string;
  clock: Clock;
  vault: Pick<Vault, 'newest' | 'termOf' | 'used'>;
  /** The model from the environment; it hides one of the same name in the registry. */
  configured: ModelAccess | null;
}

/** Name among fallbacks that means the default model, whichever it is; no model has this name. */
export const DEFAULT_FALLBACK = 'default';
/** Name of the fact that holds the default model's name, which may be a model without a row. */
export const DEFAULT_FACT = 'default_model';
export const ALL: Supports = { tools: true, vision: false, streaming: true, embeddings: false };

export const createRegistry = (deps: RegistryDeps): Registry => {
  const { store } = deps;
  const fixed = fixedEntries(deps);
  let entries = fixed;
  let routes: TopicRoute[] = [];
  let chosen: string | null = null;
  let reading = Promise.resolve();

  const find = (name: string): RegisteredModel | undefined =>
    entries.find((entry) => entry.name === name);

  const read = async (): Promise<void> => {
    const [models, routeRows, fact] = await Promise.all([
      store.db.selectFrom('models').select(columns).orderBy('id', 'desc').execute(),
      store.db.selectFrom('model_routes').select(routeColumns).orderBy('topic').execute(),
      store.db
        .selectFrom('facts')
        .select('value')
        .where('name', '=', DEFAULT_FACT)
        .executeTakeFirst(),
    ]);
    const isFixed = ({ name }: ModelRow) => fixed.some((entry) => entry.name === name);
    const registered = models.filter((row) => !isFixed(row)).map((row) => entryOf(deps, row));
    entries = [...(await Promise.all(registered)), ...fixed];
    routes = routeRows.map(routeOf);
    chosen = fact?.value ?? null;
  };

  return {
    refresh: () => {
      reading = reading.catch(() => undefined).then(read);
      return reading;
    },
    list: () => entries,
    find,
    routes: () => routes,
    default: () => {
      const usable = entries.filter(({ isEnabled }) => isEnabled);
      const entry =
        usable.find(({ name }) => name === chosen) ??
        usable.find(({ source }) => source === 'settings') ??
        usable.findLast(({ source }) => source === 'registry');
      return entry?.name ?? digest.name;
    },
  };
};

const fixedEntries = ({ configured, open }: RegistryDeps): RegisteredModel[] => {
  if (configured === null) return [builtin];
  const { apiKey, ...spec } = configured;
  const model = open(configured);
  return [
    { ...spec, ...fixedFields, hasKey: apiKey !== undefined, source: 'settings', model },
    builtin,
  ];
};

const fixedFields = {
  ...{ fallbacks: [], isEnabled: true, credentialId: null },
  whyKeyless: () => null,
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

const columns = [
  'id',
  'name',
  'provider',
  'model_id',
  'base_url',
  'key_sealed',
  'credential_id',
  'context_window',
  'max_output_tokens',
  'supports',
  'price',
  'fallbacks',
  'enabled',
  'created_at',
  'updated_at',
] as const;
const routeColumns = ['topic', 'primary', 'fallbacks'] as const;

const entryOf = async (deps: RegistryDeps, row: ModelRow): Promise<RegisteredModel> => {
  const spec = {
    name: row.name,
    provider: row.provider,
    modelId: row.model_id,
    baseUrl: row.base_url,
    contextWindow: row.context_window,
    maxOutputTokens: row.max_output_tokens,
    supports: JSON.parse(row.supports),
    price: row.price === null ? null : JSON.parse(row.price),
  };
  const { id, credential_id, key_sealed } = row;
  const isDamaged =
    credential_id === null && key_sealed !== null && opened(deps, id, key_sealed) === null;
  const whyKeyless = isDamaged
    ? () => 'its key was damaged: set it anew'
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

const routeOf = ({ topic, primary, fallbacks }: ModelRouteRow): TopicRoute => ({
  topic,
  primary,
  fallbacks: JSON.parse(fallbacks),
});
