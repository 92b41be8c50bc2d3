import Boom from '@hapi/boom';
import { iso } from '../kernel/clock.js';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { faultOfHeaderValue } from '../kernel/headervalue.js';
import { mint } from '../kernel/ids.js';
import { withoutHost } from '../kernel/redact.js';
import { badRequest, throwIfFaults } from '../kernel/route.js';
import { isSlug } from '../providers/llm/llama/files.js';
import { type Statement, UniqueViolation } from '../store/engine/protocol.js';
import { isCommitted } from '../store/store.js';
import type { ModelRow } from '../store/tables/models.js';
import { updateIf } from '../store/updateif.js';
import type { ModelChanges, ModelView, NewModel } from './contract.js';
import type { ModelsDeps } from './deps.js';
import type { ModelHealth, ModelHealths } from './health.js';
import { type LlamaFacts, modelFileFaults, withFileDefaults } from './llamafacts.js';
import type { OwnedModel } from './queries.js';
import type { RegisteredModel, Registry } from './registry.js';
import {
  isProvider,
  modelFaults,
  modelNameFaults,
  orgModelFaults,
  withModelDefaults,
} from './rules.js';
import { modelRemovalStatements, topicStatements } from './topics.js';
import { assertEmbedderUnused, embedderTopicFaults, mergeEmbedding } from './vectors.js';

const MOST = 500;

export const addModel = async (
  deps: ModelsDeps,
  asked: NewModel,
  by: Caller & Recorder,
): Promise<ModelView> => {
  const { registry, models } = deps;
  const orgId = orgOfCaller(by);
  await refuseOrgFaults(deps, orgId, asked);
  const names = modelNames(registry, orgId);
  const facts = await loadLlamaFacts(deps, asked, by.signal);
  const given = facts ? withFileDefaults(asked, facts) : asked;
  const faults = [
    ...modelNameFaults(given.name),
    ...modelFaults(given, names),
    ...(facts ? modelFileFaults(asked, facts) : []),
  ];
  throwIfFaults([...faults, ...embedderTopicFaults(deps, given)]);
  await checkModelCredential(deps, given.credentialId, by);
  if (names.includes(given.name)) throw taken(given.name);
  const own = registry.list(orgId).filter((entry) => entry.orgId === orgId);
  if (own.filter(({ source }) => source === 'registry').length >= MOST)
    throw Boom.conflict(`Adjutant has the maximum of ${MOST} models. Delete a model first.`);
  const row = newRow(deps, given, orgId);
  const topics = given.topics ? topicStatements(deps, row.name, given.topics) : [];
  const recorded = by.record({ target: row.name, data: auditData(given) });
  try {
    await models.transact([models.insert(row), ...topics, recorded]);
  } catch (error) {
    throw error instanceof UniqueViolation ? taken(given.name) : error;
  }
  // A call of a deleted model with the name may have ended afterwards.
  deps.modelHealth.forget(row.name);
  return viewChangedModel(deps, { name: row.name, orgId });
};

/** The first part of a name with a slash tells whose model it is. */
const refuseOrgFaults = async (
  { models, http }: ModelsDeps,
  orgId: string | null,
  model: NewModel,
): Promise<void> => {
  const [slug = '', ...rest] = model.name.split('/');
  const owner = rest.length === 0 ? null : await models.orgBySlug(slug);
  if (owner !== orgId) {
    const message =
      orgId === null
        ? 'must not begin with the slug of an organization and a slash'
        : 'must begin with the slug of the organization and a slash, such as acme/large';
    throw badRequest([{ path: 'name', message }]);
  }
  if (orgId !== null) throwIfFaults(orgModelFaults(model, http));
};

/** A key belongs to its origin: another address or provider requires it again. */
export const changeModel = async (
  deps: ModelsDeps,
  name: string,
  asked: ModelChanges,
  by: Caller & Recorder,
): Promise<ModelView> => {
  const { orgId, source, provider, modelId } = findOwnModel(deps, name, by);
  refuseFixed({ name, source });
  const of = { provider, modelId, ...asked };
  const facts = orgId === null ? await loadLlamaFacts(deps, of, by.signal) : null;
  throwIfFaults(facts ? modelFileFaults(asked, facts) : []);
  const isOther = asked.provider !== undefined || asked.modelId !== undefined;
  const given = facts && isOther ? withFileDefaults(asked, facts) : asked;
  assertEmbedderUnused(deps, name, given);
  throwIfFaults(embedderTopicFaults(deps, { name, topics: given.topics }));
  // All prompts of the organization's agents go to the address.
  if (given.baseUrl !== undefined || given.provider !== undefined)
    requireOwnLogin(by, 'Changing the provider or address');
  await checkModelCredential(deps, given.credentialId, by);
  await updateIf({
    clock: deps.clock,
    read: async () => {
      const row = await deps.models.row({ name, orgId });
      if (!row) throw noModel();
      return row;
    },
    write: async (row, version) => {
      const changes = { ...buildModelChanges(deps, row, given), updated_at: version };
      const topics = given.topics ? topicStatements(deps, name, given.topics) : [];
      const recorded = by.record({ target: name, data: auditData(given) });
      return (await isDone(deps, [deps.models.update(row, changes), ...topics], recorded)) || null;
    },
  });
  deps.modelHealth.forget(name);
  return viewChangedModel(deps, { name, orgId });
};

/** Null for models that are not local. */
const loadLlamaFacts = async (
  { llamaFacts }: ModelsDeps,
  { provider, modelId }: Pick<NewModel, 'provider' | 'modelId'>,
  signal: AbortSignal,
): Promise<LlamaFacts | null> =>
  provider === 'llama' && isSlug(modelId) ? llamaFacts(modelId, signal) : null;

export const deleteModel = async (
  deps: ModelsDeps,
  name: string,
  by: Caller & Recorder,
): Promise<void> => {
  const entry = findOwnModel(deps, name, by);
  refuseFixed(entry);
  const statements = [...deps.models.delete(entry), ...modelRemovalStatements(deps, name)];
  const recorded = by.record({ target: name });
  if (!(await isDone(deps, statements, recorded))) throw noModel();
  deps.modelHealth.forget(name);
  await deps.registry.refresh();
};

/** Null for an admin of the installation. */
export const orgOfCaller = ({
  userId,
  member,
}: Pick<Caller, 'userId' | 'member'>): string | null => (member ? userId : null);

export const findModel = (
  { registry }: ModelsDeps,
  name: string,
  userId: string | null,
): RegisteredModel => {
  const entry = registry.find(name, userId);
  if (!entry) throw noModel();
  return entry;
};

/** A model that the caller may change: of the installation, or of the organization of the call. */
export const findOwnModel = (
  deps: ModelsDeps,
  name: string,
  by: Pick<Caller, 'userId' | 'member'>,
): RegisteredModel => {
  const orgId = orgOfCaller(by);
  const entry = findModel(deps, name, orgId);
  if (entry.orgId !== orgId) throw noModel();
  return entry;
};

export const modelNames = (registry: Registry, orgId: string | null): string[] =>
  registry.list(orgId).map(({ name }) => name);

/** 403 for a model of an organization with a personal access token, or during impersonation. */
const requireOwnLogin = ({ member, tokenId, impersonator }: Caller, what: string): void => {
  if (!member || (tokenId === null && !impersonator)) return;
  const message = `${what} of a model requires your own login and is not available with a personal access token or during impersonation`;
  throw Boom.forbidden(message, { code: 'personal_only' });
};

/** 400 if the credential does not exist for the caller, or cannot be an HTTP header. */
export const checkModelCredential = async (
  { keys }: ModelsDeps,
  id: string | null | undefined,
  by: Caller,
): Promise<void> => {
  if (!id) return;
  // The address that a model sends the value to may be anywhere, which is as good as a reveal.
  requireOwnLogin(by, 'Setting the credential');
  const path = 'credentialId';
  if (!(await keys.isOwn(by.userId, id))) {
    const message = by.member
      ? 'must be the ID of a credential of the organization'
      : 'must be the ID of one of your credentials';
    throw badRequest([{ path, message }]);
  }
  const fault = faultOfHeaderValue((await keys.newest(id)) ?? 'expired');
  if (fault !== null) throw badRequest([{ path, message: `refers to a value that ${fault}` }]);
};

/** Addresses are for those who may change the model. */
export const viewModelFor = (deps: ModelsDeps, entry: RegisteredModel, by: Viewer): ModelView => {
  const view = viewModel(deps, entry);
  if (maySeeAddress(entry, by)) return view;
  return { ...view, baseUrl: null, credentialId: null, health: withoutAddress(view.health, entry) };
};

type Viewer = Pick<Caller, 'role' | 'member'>;

const maySeeAddress = ({ orgId }: RegisteredModel, { role, member }: Viewer): boolean =>
  orgId === null ? role === 'admin' : member !== undefined && member.role !== 'member';

const withoutAddress = (health: ModelHealth, { baseUrl }: RegisteredModel): ModelHealth => {
  if (baseUrl === null || health.lastError === null) return health;
  return { ...health, lastError: withoutHost(health.lastError, baseUrl) };
};

export const viewHealthFor = (
  deps: ModelsDeps,
  entry: RegisteredModel,
  by: Viewer,
): ModelHealth => {
  const health = viewHealth(deps.modelHealth, entry);
  return maySeeAddress(entry, by) ? health : withoutAddress(health, entry);
};

const viewModel = ({ registry, modelHealth }: ModelsDeps, entry: RegisteredModel): ModelView => ({
  id: entry.id,
  orgId: entry.orgId,
  name: entry.name,
  provider: entry.provider,
  modelId: entry.modelId,
  baseUrl: entry.baseUrl,
  credentialId: entry.credentialId,
  apiKeySet: entry.hasKey,
  contextWindow: entry.contextWindow,
  maxOutputTokens: entry.maxOutputTokens,
  supports: {
    ...entry.supports,
    embeddings: entry.embedding !== null || entry.supports.embeddings,
  },
  price: entry.price,
  embedding: entry.embedding,
  topics: registry
    .routes()
    .filter(({ primary }) => primary === entry.name)
    .map(({ topic }) => topic),
  fallbacks: entry.fallbacks,
  enabled: entry.isEnabled,
  isDefault: registry.default() === entry.name,
  source: entry.source,
  health: viewHealth(modelHealth, entry),
});

/** A built-in model is always up. */
const viewHealth = (health: ModelHealths, entry: RegisteredModel): ModelHealth => {
  const seen = health.of(entry);
  return entry.source === 'builtin' ? { ...seen, status: 'up' } : seen;
};

export const viewChangedModel = async (
  deps: ModelsDeps,
  { name, orgId }: OwnedModel,
): Promise<ModelView> => {
  await deps.registry.refresh();
  return viewModel(deps, findModel(deps, name, orgId));
};

const isDone = (
  { models }: ModelsDeps,
  statements: Statement[],
  recorded: ReturnType<Recorder['record']>,
): Promise<boolean> => isCommitted(models.transact([...statements, recorded]));

const refuseFixed = ({ name, source }: Pick<RegisteredModel, 'name' | 'source'>): void => {
  if (source === 'registry') return;
  const message =
    source === 'builtin'
      ? `The model ${name} is built in and cannot be changed`
      : `The model ${name} is defined by ADJUTANT_MODEL_URL and ADJUTANT_MODEL_NAME. Change these settings instead.`;
  throw Boom.conflict(message, { code: 'model_fixed' });
};

/** The fields must be checked before. */
export const newRow = (
  { clock, keys }: ModelsDeps,
  given: NewModel,
  orgId: string | null,
): ModelRow => {
  const now = clock.now();
  const id = mint('model', now);
  const { contextWindow, maxOutputTokens, supports, price } = withModelDefaults(given);
  return {
    id,
    name: given.name,
    provider: requireProvider(given.provider),
    model_id: given.modelId,
    base_url: given.baseUrl ?? null,
    key_sealed: given.apiKey ? keys.seal(id, given.apiKey) : null,
    credential_id: given.credentialId ?? null,
    context_window: contextWindow,
    max_output_tokens: maxOutputTokens,
    supports: JSON.stringify(supports),
    price: price === null ? null : JSON.stringify(price),
    fallbacks: JSON.stringify(given.fallbacks ?? []),
    enabled: given.enabled === false ? 0 : 1,
    created_at: iso(now),
    updated_at: iso(now),
    embedding: given.embedding ? JSON.stringify(mergeEmbedding(given.embedding, null)) : null,
    user_id: orgId,
  };
};

const buildModelChanges = (
  deps: ModelsDeps,
  row: ModelRow,
  given: ModelChanges,
): Partial<ModelRow> => {
  const provider = given.provider ?? row.provider;
  const baseUrl = given.baseUrl === undefined ? row.base_url : given.baseUrl;
  const modelId = given.modelId ?? row.model_id;
  const able = { ...JSON.parse(row.supports), ...given.supports };
  const embedding = given.embedding && mergeEmbedding(given.embedding, row.embedding);
  const asked = { ...given, name: row.name, provider, baseUrl, modelId, supports: able, embedding };
  throwIfFaults([
    ...(row.user_id === null ? [] : orgModelFaults({ ...asked, topics: given.topics }, deps.http)),
    ...modelFaults(asked, modelNames(deps.registry, row.user_id)),
  ]);
  const isMoved = provider !== row.provider || getUrlOrigin(baseUrl) !== getUrlOrigin(row.base_url);
  const { contextWindow, maxOutputTokens, supports, price, fallbacks } = given;
  return {
    ...(embedding !== undefined && { embedding: embedding && JSON.stringify(embedding) }),
    provider: requireProvider(provider),
    base_url: baseUrl,
    model_id: modelId,
    ...(isMoved && { key_sealed: null, credential_id: null }),
    ...(given.credentialId !== undefined && {
      credential_id: given.credentialId,
      ...(given.credentialId !== null && { key_sealed: null }),
    }),
    ...(given.apiKey !== undefined && {
      credential_id: null,
      key_sealed: given.apiKey === null ? null : deps.keys.seal(row.id, given.apiKey),
    }),
    ...(contextWindow !== undefined && { context_window: contextWindow }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(supports && { supports: JSON.stringify(able) }),
    ...(price !== undefined && { price: price === null ? null : JSON.stringify(price) }),
    ...(fallbacks && { fallbacks: JSON.stringify(fallbacks) }),
    ...(given.enabled !== undefined && { enabled: given.enabled ? 1 : 0 }),
  };
};

/** The fields are checked before, so that there is always an adapter. */
const requireProvider = (provider: string): ModelRow['provider'] => {
  if (!isProvider(provider)) throw new Error(`No adapter for the provider ${provider}`);
  return provider;
};

const getUrlOrigin = (baseUrl: string | null): string | null =>
  baseUrl === null ? null : new URL(baseUrl).origin;

const auditData = ({ apiKey, ...given }: NewModel | ModelChanges): Record<string, unknown> => ({
  ...given,
  ...(apiKey !== undefined && { apiKey: apiKey === null ? 'removed' : 'given' }),
});

const taken = (name: string): Boom.Boom =>
  Boom.conflict(`A model named ${name} already exists. Choose another name`, {
    code: 'name_taken',
  });
const noModel = (): Boom.Boom => Boom.notFound('No model with that name');
