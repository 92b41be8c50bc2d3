import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';
import {
  GivenEmbedding,
  ModelEmbedding,
  Price,
  PriceOrNull,
  Provider,
  Supports,
  tokens,
} from './facts.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const topic = () => s.text(100);
const names = () => s.list(s.text(100), 20);

const state = {
  status: s.oneOf('ModelStatus', 'up', 'down', 'unknown', 'cooling'),
  latencyMs: s.nullable(count()).description('Of the last answer'),
  lastError: s.nullable(s.anyText(2000)),
  checkedAt: s.nullable(s.time()),
  circuit: s
    .oneOf('Circuit', 'closed', 'open', 'half_open')
    .description('open: not asked before retryAt; half_open: the next call alone tries it'),
  retryAt: s.nullable(s.time()),
};

export const ModelView = s.object('Model', {
  name: s.text(100),
  provider: Provider,
  modelId: s.text(200),
  baseUrl: s.nullable(s.text(2000)).description('null: the provider’s own'),
  credentialId: s.nullable(s.id('credential')),
  apiKeySet: s.flag(),
  contextWindow: tokens(),
  maxOutputTokens: s.nullable(tokens()),
  supports: Supports,
  price: PriceOrNull,
  embedding: s.nullable(ModelEmbedding).description('null: it makes no vectors'),
  topics: s.list(topic(), 1000).description('Those that it is the first for'),
  fallbacks: names().description(
    'Tried after it, in this order, whatever the topic; `default` is the default model',
  ),
  enabled: s.flag(),
  isDefault: s.flag(),
  source: s
    .oneOf('ModelSource', 'registry', 'settings', 'builtin')
    .description('settings: from ADJUTANT_MODEL_URL, read-only here'),
  health: s.object('ModelHealth', state),
});
export type ModelView = s.Static<typeof ModelView>;

/** Fields of a model that its owner gives; a key is never shown again. */
const given = {
  modelId: s.text(200).description('As the provider calls it'),
  baseUrl: s.optional(
    s
      .nullable(s.text(2000))
      .description('Up to /chat/completions, /messages or /models; Ollama’s without a path'),
  ),
  credentialId: s.optional(s.nullable(s.text(80))),
  apiKey: s.optional(s.nullable(s.text(1000))),
  contextWindow: s.optional(s.whole(256, 100_000_000).description('Tokens')),
  maxOutputTokens: s.optional(s.nullable(s.whole(1, 10_000_000))),
  supports: s.optional(
    s.object('GivenSupports', {
      tools: s.optional(s.flag()),
      vision: s.optional(s.flag()),
      streaming: s.optional(s.flag()),
      embeddings: s.optional(s.flag()),
      transcription: s.optional(s.flag().description('It turns speech into text')),
    }),
  ),
  price: s.optional(PriceOrNull),
  embedding: s.optional(
    s.nullable(GivenEmbedding).description('Given for a model that makes vectors of texts'),
  ),
  topics: s.optional(s.list(topic(), 100)),
  fallbacks: s.optional(names()),
  enabled: s.optional(s.flag()),
};

export const NewModel = s.object('NewModel', { name: s.text(100), provider: Provider, ...given });
export type NewModel = s.Static<typeof NewModel>;

/** Ours: the name does not change, since agents and routes refer to it. */
export const ModelChanges = s.ignoring(
  s.partial('ModelChanges', s.object('AllModelChanges', { provider: Provider, ...given })),
  'name',
  'apiKeySet',
  'isDefault',
  'source',
  'health',
);
export type ModelChanges = s.Static<typeof ModelChanges>;

const Route = s.object('Route', { topic: topic(), primary: s.text(100), fallbacks: names() });
const RoutingView = s.object('Routing', { default: s.text(100), topics: s.list(Route, 1000) });
export type RoutingView = s.Static<typeof RoutingView>;
const RoutingChanges = s
  .object('RoutingChanges', {
    default: s.optional(s.text(100)),
    topics: s.optional(
      s
        .list(
          s.object('GivenRoute', {
            topic: topic(),
            primary: s.text(100),
            fallbacks: s.optional(names()),
          }),
          1000,
        )
        .description('Replaces all of them'),
    ),
    confirm: s.optional(
      s.flag().description('True: the texts of all users may go to the model for `embeddings`'),
    ),
  })
  .min(1);
export type RoutingChanges = s.Static<typeof RoutingChanges>;

export const ModelTrial = s.object('ModelTrial', {
  provider: Provider,
  modelId: s.text(200),
  baseUrl: s.optional(s.nullable(s.text(2000))),
  credentialId: s.optional(s.text(80)),
  apiKey: s.optional(s.text(1000)),
});
export type ModelTrial = s.Static<typeof ModelTrial>;
const Probed = s.object('ModelProbe', {
  ok: s.flag(),
  latencyMs: count(),
  reply: s.optional(s.anyText(200)),
  error: s.optional(s.text(2000)),
  missing: s.optional(
    s
      .oneOf('ModelFeature', 'tools', 'streaming', 'conversation')
      .description('Feature that agents use and without which the model answers'),
  ),
});
export type ProbeResult = s.Static<typeof Probed>;

const spent = {
  calls: count(),
  inputTokens: count(),
  outputTokens: count(),
  costUsd: s.amount(0, Number.MAX_SAFE_INTEGER),
};

export const models = contract({
  list: endpoint.get('/api/models', {
    summary: 'List all models, the newest first',
    query: pageQuery('ModelQuery', {
      provider: s.optional(Provider),
      topic: s.optional(topic()),
      enabled: s.optional(s.queryFlag()),
    }),
    reply: pageOf('models', ModelView),
  }),
  create: endpoint.post('/api/models', {
    summary: 'Register a model',
    access: 'admin',
    audit: 'models.create',
    example: { name: 'qwen', provider: 'ollama', modelId: 'qwen3' },
    body: NewModel,
    reply: ModelView,
    status: 201,
  }),
  get: endpoint.get('/api/models/{name}', { summary: 'Show a model', reply: ModelView }),
  update: endpoint.patch('/api/models/{name}', {
    summary: 'Change a model: what is given; its name stays',
    access: 'admin',
    audit: 'models.update',
    example: { contextWindow: 32_768, topics: ['triage'] },
    body: ModelChanges,
    reply: ModelView,
  }),
  delete: endpoint.delete('/api/models/{name}', {
    summary: 'Delete a model; routes and fallbacks go on without it',
    access: 'admin',
    audit: 'models.delete',
  }),
  default: endpoint.post('/api/models/{name}/default', {
    summary: 'Let this model answer where none is named or routed',
    access: 'admin',
    audit: 'models.default',
    reply: ModelView,
  }),
  check: endpoint.post('/api/models/{name}/test', {
    summary: 'Test a model as agents use it',
    access: 'admin',
    audit: 'models.check',
    reply: Probed,
  }),
  test: endpoint.post('/api/models/test', {
    summary: 'Test a model before it is registered',
    access: 'admin',
    audit: 'models.test',
    example: { provider: 'ollama', modelId: 'qwen3' },
    body: ModelTrial,
    reply: Probed,
  }),
  routing: endpoint.get('/api/models/routing', {
    summary: 'Which models answer for which topic',
    reply: RoutingView,
  }),
  'set-routing': endpoint.put('/api/models/routing', {
    summary: 'Change the default, or all topics',
    access: 'admin',
    audit: 'models.set-routing',
    example: { topics: [{ topic: 'triage', primary: 'digest', fallbacks: [] }] },
    body: RoutingChanges,
    reply: RoutingView,
  }),
  health: endpoint.get('/api/models/health', {
    summary: 'How the models are, as far as calls have shown',
    query: s.object('ModelHealthQuery', {
      check: s.optional(s.queryFlag().description('Send each a tiny prompt first; admins')),
    }),
    reply: s.object('ModelsHealth', {
      providers: s.list(
        s.object('ProviderHealth', { provider: Provider, model: s.text(100), ...state }),
      ),
    }),
  }),
  usage: endpoint.get('/api/models/usage', {
    summary: 'What models cost you, by model, agent, hook or day',
    query: pageQuery('ModelUsageQuery', {
      by: s.optional(s.oneOf('UsageBy', 'model', 'agent', 'hook', 'day')),
      since: s.optional(s.moment()),
      until: s.optional(s.moment()),
    }),
    reply: s.object('ModelUsage', {
      usage: s.list(s.object('UsageOf', { key: s.text(200), ...spent }), 200),
      nextCursor: s.nullable(s.text(200)),
      total: s.object('UsageTotal', spent),
    }),
  }),
});

const KnownModel = s.object('KnownModel', {
  modelId: s.text(200),
  contextWindow: tokens(),
  maxOutputTokens: tokens(),
  supports: Supports,
  price: Price,
  asOf: s.text(10).description('The day on which the price was read'),
});

const Available = s.object('AvailableModels', {
  available: s.flag().description('false: the server did not answer, error says why'),
  baseUrl: s.text(2000),
  error: s.nullable(s.text(2000)),
  models: s.list(
    s.object('AvailableModel', {
      modelId: s.text(200),
      contextWindow: s.nullable(count()),
      maxOutputTokens: s.nullable(count()),
      price: s.nullable(
        s.object('AvailablePrice', {
          inputPerMTok: s.amount(0, Number.MAX_VALUE),
          outputPerMTok: s.amount(0, Number.MAX_VALUE),
        }),
      ),
      sizeBytes: s.nullable(count()),
    }),
    1000,
  ),
});
export type Available = s.Static<typeof Available>;
const serverQuery = (label: string) =>
  s.object(label, {
    baseUrl: s.optional(
      s.text(2000).description('Another server than that of the registry; admins'),
    ),
  });

export const providers = contract({
  known: endpoint.get('/api/models/providers/{provider}/known', {
    summary: 'Published facts about a provider’s models',
    reply: s.object('KnownModels', { provider: Provider, models: s.list(KnownModel) }),
  }),
  ollama: endpoint.get('/api/models/providers/ollama/models', {
    summary: 'What Ollama has pulled',
    query: serverQuery('OllamaQuery'),
    reply: Available,
  }),
  litellm: endpoint.get('/api/models/providers/litellm/models', {
    summary: 'What a LiteLLM proxy routes',
    query: serverQuery('LitellmQuery'),
    reply: Available,
  }),
});
