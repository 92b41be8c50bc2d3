import { contract } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import {
  amount,
  anyText,
  flag,
  id,
  ignoring,
  list,
  moment,
  nullable,
  object,
  oneOf,
  optional,
  partial,
  queryFlag,
  type Static,
  text,
  time,
  whole,
} from '../kernel/contract/schema.js';

const tokens = () => whole(1, Number.MAX_SAFE_INTEGER);
const count = () => whole(0, Number.MAX_SAFE_INTEGER);
const usd = () => amount(0, 1_000_000);
const topic = () => text(100);
const names = () => list(text(100), 20);

const Provider = oneOf(
  'Provider',
  'openai',
  'anthropic',
  'google',
  'ollama',
  'litellm',
  'openrouter',
  'openai-compatible',
  'cli',
  'digest',
);

const Price = object('Price', { inputPerMTok: usd(), outputPerMTok: usd() });
const PriceOrNull = nullable(Price).description('USD per million tokens; null: not known, or free');
const Supports = object('Supports', {
  tools: flag(),
  vision: flag(),
  streaming: flag(),
  embeddings: flag(),
});

const state = {
  status: oneOf('ModelStatus', 'up', 'down', 'unknown', 'cooling'),
  latencyMs: nullable(count()).description('Of the last answer'),
  lastError: nullable(anyText(2000)),
  checkedAt: nullable(time()),
  circuit: oneOf('Circuit', 'closed', 'open', 'half_open').description(
    'open: not asked before retryAt; half_open: the next call alone tries it',
  ),
  retryAt: nullable(time()),
};

export const ModelView = object('Model', {
  name: text(100),
  provider: Provider,
  modelId: text(200),
  baseUrl: nullable(text(2000)).description('null: the provider’s own'),
  credentialId: nullable(id('credential')),
  apiKeySet: flag(),
  contextWindow: tokens(),
  maxOutputTokens: nullable(tokens()),
  supports: Supports,
  price: PriceOrNull,
  topics: list(topic(), 1000).description('Those that it is the first for'),
  fallbacks: names().description(
    'Tried after it, in this order, whatever the topic; `default` is the default model',
  ),
  enabled: flag(),
  isDefault: flag(),
  source: oneOf('ModelSource', 'registry', 'settings', 'builtin').description(
    'settings: from ADJUTANT_MODEL_URL, read-only here',
  ),
  health: object('ModelHealth', state),
});
export type ModelView = Static<typeof ModelView>;

/** Fields of a model that its owner gives; a key is never shown again. */
const given = {
  modelId: text(200).description('As the provider calls it'),
  baseUrl: optional(
    nullable(text(2000)).description(
      'Up to /chat/completions, /messages or /models; Ollama’s without a path',
    ),
  ),
  credentialId: optional(nullable(text(80))),
  apiKey: optional(nullable(text(1000))),
  contextWindow: optional(whole(256, 100_000_000).description('Tokens')),
  maxOutputTokens: optional(nullable(whole(1, 10_000_000))),
  supports: optional(
    object('GivenSupports', {
      tools: optional(flag()),
      vision: optional(flag()),
      streaming: optional(flag()),
      embeddings: optional(flag()),
    }),
  ),
  price: optional(PriceOrNull),
  topics: optional(list(topic(), 100)),
  fallbacks: optional(names()),
  enabled: optional(flag()),
};

export const NewModel = object('NewModel', { name: text(100), provider: Provider, ...given });
export type NewModel = Static<typeof NewModel>;

/** Ours: the name does not change, since agents and routes refer to it. */
export const ModelChanges = ignoring(
  partial('ModelChanges', object('AllModelChanges', { provider: Provider, ...given })),
  'name',
  'apiKeySet',
  'isDefault',
  'source',
  'health',
);
export type ModelChanges = Static<typeof ModelChanges>;

const Route = object('Route', {
  topic: topic(),
  primary: text(100),
  fallbacks: names(),
});
const RoutingView = object('Routing', { default: text(100), topics: list(Route, 1000) });
export type RoutingView = Static<typeof RoutingView>;
const RoutingChanges = object('RoutingChanges', {
  default: optional(text(100)),
  topics: optional(
    list(
      object('GivenRoute', {
        topic: topic(),
        primary: text(100),
        fallbacks: optional(names()),
      }),
      1000,
    ).description('Replaces all of them'),
  ),
}).min(1);
export type RoutingChanges = Static<typeof RoutingChanges>;

export const ModelTrial = object('ModelTrial', {
  provider: Provider,
  modelId: text(200),
  baseUrl: optional(nullable(text(2000))),
  credentialId: optional(text(80)),
  apiKey: optional(text(1000)),
});
export type ModelTrial = Static<typeof ModelTrial>;
const Probed = object('ModelProbe', {
  ok: flag(),
  latencyMs: count(),
  reply: optional(anyText(200)),
  error: optional(text(2000)),
});

const spent = {
  calls: count(),
  inputTokens: count(),
  outputTokens: count(),
  costUsd: amount(0, Number.MAX_SAFE_INTEGER),
};

export const models = contract({
  list: {
    method: 'GET',
    path: '/api/models',
    summary: 'List all models, the newest first',
    query: pageQuery('ModelQuery', {
      provider: optional(Provider),
      topic: optional(topic()),
      enabled: optional(queryFlag()),
    }),
    reply: pageOf('models', ModelView),
  },
  create: {
    method: 'POST',
    path: '/api/models',
    summary: 'Register a model',
    access: 'admin',
    audit: 'models.create',
    example: { name: 'qwen', provider: 'ollama', modelId: 'qwen3' },
    body: NewModel,
    reply: ModelView,
    status: 201,
  },
  get: { method: 'GET', path: '/api/models/{name}', summary: 'Show a model', reply: ModelView },
  update: {
    method: 'PATCH',
    path: '/api/models/{name}',
    summary: 'Change a model: what is given; its name stays',
    access: 'admin',
    audit: 'models.update',
    example: { contextWindow: 32_768, topics: ['triage'] },
    body: ModelChanges,
    reply: ModelView,
  },
  delete: {
    method: 'DELETE',
    path: '/api/models/{name}',
    summary: 'Delete a model; routes and fallbacks go on without it',
    access: 'admin',
    audit: 'models.delete',
  },
  default: {
    method: 'POST',
    path: '/api/models/{name}/default',
    summary: 'Let this model answer where none is named or routed',
    access: 'admin',
    audit: 'models.default',
    reply: ModelView,
  },
  check: {
    method: 'POST',
    path: '/api/models/{name}/test',
    summary: 'Send a model one tiny real prompt',
    access: 'admin',
    audit: 'models.check',
    reply: Probed,
  },
  test: {
    method: 'POST',
    path: '/api/models/test',
    summary: 'The same for a model that is not registered; nothing is stored',
    access: 'admin',
    audit: 'models.test',
    example: { provider: 'ollama', modelId: 'qwen3' },
    body: ModelTrial,
    reply: Probed,
  },
  routing: {
    method: 'GET',
    path: '/api/models/routing',
    summary: 'Which models answer for which topic',
    reply: RoutingView,
  },
  'set-routing': {
    method: 'PUT',
    path: '/api/models/routing',
    summary: 'Change the default, or all topics',
    access: 'admin',
    audit: 'models.set-routing',
    example: { topics: [{ topic: 'triage', primary: 'digest', fallbacks: [] }] },
    body: RoutingChanges,
    reply: RoutingView,
  },
  health: {
    method: 'GET',
    path: '/api/models/health',
    summary: 'How the models are, as far as calls have shown',
    query: object('ModelHealthQuery', {
      check: optional(queryFlag().description('Send each a tiny prompt first; admins')),
    }),
    reply: object('ModelsHealth', {
      providers: list(object('ProviderHealth', { provider: Provider, model: text(100), ...state })),
    }),
  },
  usage: {
    method: 'GET',
    path: '/api/models/usage',
    summary: 'What models cost you, by model, agent, hook or day',
    query: pageQuery('ModelUsageQuery', {
      by: optional(oneOf('UsageBy', 'model', 'agent', 'hook', 'day')),
      since: optional(moment()),
      until: optional(moment()),
    }),
    reply: object('ModelUsage', {
      usage: list(object('UsageOf', { key: text(200), ...spent }), 200),
      nextCursor: nullable(text(200)),
      total: object('UsageTotal', spent),
    }),
  },
});
