import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';
import {
  GivenEmbedding,
  GivenSupports,
  ModelEmbedding,
  Price,
  PriceOrNull,
  Provider,
  Supports,
  tokens,
} from './facts.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);
const topic = () => s.text(100);
const names = () => s.list(s.text(100), 20);
/** Without the path of a request. */
const baseUrl = () => s.url(2000).replace(/(?:\/chat)?\/completions\/*$/, '');

const state = {
  status: s.oneOf('ModelStatus', 'up', 'down', 'unknown', 'cooling'),
  latencyMs: s
    .nullable(count())
    .description(
      'Duration of the last successful call until the end of its reply, in milliseconds. `null` if there was none since the start of the daemon or the last change of the model',
    ),
  lastError: s
    .nullable(s.anyText(2000))
    .description(
      'Error of the last call, or the reason why a local model cannot be loaded. `null` if the last call succeeded or there was none since the start of the daemon or the last change of the model',
    ),
  checkedAt: s
    .nullable(s.time())
    .description(
      'Time of the last call, in use or in a test. `null` if there was none since the start of the daemon or the last change of the model',
    ),
  circuit: s
    .oneOf('Circuit', 'closed', 'open', 'half_open')
    .description(
      'State of the circuit breaker. `open`: no calls until `retryAt`. `half_open`: the next call ' +
        'tests the model.',
    ),
  retryAt: s
    .nullable(s.time())
    .description('Time of the next permitted call. `null` while calls are permitted (`closed`).'),
};

export const ModelView = s.object('Model', {
  id: s.text(100).description('ID of the model. The name if the model is not registered'),
  orgId: s
    .nullable(s.id('org'))
    .description(
      'ID of the organization that owns the model. `null` for the models of the installation, which everybody can use',
    ),
  name: s.text(100),
  provider: Provider,
  modelId: s.text(200),
  baseUrl: s
    .nullable(s.text(2000))
    .description(
      'Base URL of the API. `null` for the default of the provider. Always `null` for users who may not change the model.',
    ),
  credentialId: s
    .nullable(s.id('credential'))
    .description(
      'ID of the vault credential that contains the API key. `null` if the key is not in the vault (see `apiKeySet`), and for users who may not change the model',
    ),
  apiKeySet: s.boolean().description('Whether an API key or a credential is set'),
  contextWindow: tokens().description('Size of the context window, in tokens'),
  maxOutputTokens: s
    .nullable(tokens())
    .description('Maximum length of a reply, in tokens. `null` if no limit is known.'),
  supports: Supports,
  price: PriceOrNull,
  embedding: s
    .nullable(ModelEmbedding)
    .description('Settings for embeddings. `null` if the model makes none.'),
  topics: s.list(topic(), 1000).description('Topics for which the model is the primary model'),
  fallbacks: names().description(
    'Models to try after this model, in order, for every topic. `default` is the default model.',
  ),
  enabled: s.boolean(),
  isDefault: s.boolean(),
  source: s
    .oneOf('ModelSource', 'registry', 'settings', 'builtin')
    .description(
      '`settings`: defined by `ADJUTANT_MODEL_URL`, read-only. `builtin`: the digest, read-only.',
    ),
  health: s.object('ModelHealth', state),
});
export type ModelView = s.Static<typeof ModelView>;

const modelFields = {
  modelId: s.text(200).description('Name of the model at the provider'),
  baseUrl: s.optional(
    s
      .nullable(baseUrl())
      .description(
        'Base URL of the API, without `/chat/completions`, `/messages` or `/models`. For Ollama: ' +
          'without a path. `null` for the default of the provider. A change to another host ' +
          'removes the stored API key and `credentialId`.',
      ),
  ),
  credentialId: s.optional(
    s
      .nullable(s.text(80))
      .description(
        'ID of the vault credential that contains the API key. Replaces `apiKey`. `null` removes the reference.',
      ),
  ),
  apiKey: s.optional(
    s.nullable(s.text(1000)).description('API key. Write-only. `null` removes the key.'),
  ),
  contextWindow: s.optional(
    s
      .integer(256, 100_000_000)
      .description(
        'Size of the context window, in tokens. Defaults to the built-in value for the model, or ' +
          'else to 128000. With `ollama`, defaults to 8192. With `llama`, defaults to a size that ' +
          'fits in memory.',
      ),
  ),
  maxOutputTokens: s.optional(
    s
      .nullable(s.integer(1, 10_000_000))
      .description(
        'Maximum length of a reply, in tokens. `null` means no limit. Defaults to the built-in ' +
          'value for the model, or else to no limit.',
      ),
  ),
  supports: s.optional(GivenSupports),
  price: s.optional(PriceOrNull),
  embedding: s.optional(
    s
      .nullable(GivenEmbedding)
      .description(
        'Settings for embeddings. Required for embedding models. `null` if the model creates none.',
      ),
  ),
  topics: s.optional(s.list(topic(), 100)),
  fallbacks: s.optional(names()),
  enabled: s.optional(s.boolean()),
};

export const NewModel = s.object('NewModel', {
  name: s
    .text(100)
    .description(
      'Name of the model. For an organization, it begins with the slug of the organization and a slash',
    ),
  provider: Provider,
  ...modelFields,
});
export type NewModel = s.Static<typeof NewModel>;

/** The name cannot change, because agents and routes refer to it. */
export const ModelChanges = s.ignoreReadOnly(
  s.partial('ModelChanges', s.object('AllModelChanges', { provider: Provider, ...modelFields })),
  'id',
  'orgId',
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
    default: s.optional(s.text(100).description('Name of the default model')),
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
        .description('Routes of all topics. The list replaces the existing routes.'),
    ),
    confirm: s.optional(
      s
        .boolean()
        .description(
          'Whether to allow sending the texts of all users to the model for `embeddings`',
        ),
    ),
  })
  .min(1);
export type RoutingChanges = s.Static<typeof RoutingChanges>;

export const ModelTrial = s.object('ModelTrial', {
  provider: Provider,
  modelId: s.text(200),
  baseUrl: s
    .optional(s.nullable(baseUrl()))
    .description('Base URL of the API. `null` for the default of the provider'),
  credentialId: s.optional(s.text(80)),
  apiKey: s.optional(s.text(1000)),
});
export type ModelTrial = s.Static<typeof ModelTrial>;
const Probed = s.object('ModelProbe', {
  ok: s.boolean().description('Whether the model passed the test'),
  latencyMs: count().description('Duration of the test, in milliseconds'),
  reply: s.optional(s.anyText(200)),
  tested: s.optional(
    s
      .list(s.oneOf('ModelTestPart', 'reply', 'tool_call', 'conversation', 'embedding'), 4)
      .description(
        'Parts that passed. `tool_call`: the model called the offered tool. `conversation`: the model replied to a second message. Absent if the test failed',
      ),
  ),
  error: s.optional(s.text(2000)),
  missing: s.optional(
    s
      .oneOf('ModelFeature', 'tools', 'streaming', 'conversation')
      .description('Feature that agents require and that the model lacks'),
  ),
});
export type ProbeResult = s.Static<typeof Probed>;

const spent = {
  calls: count(),
  inputTokens: count(),
  outputTokens: count(),
  costUsd: s.number(0, Number.MAX_SAFE_INTEGER),
};

export const models = contract({
  list: endpoint.get('/api/models', {
    shared: 'member',
    summary: 'List configured models by creation time, newest first',
    query: pageQuery('ModelQuery', {
      provider: s.optional(Provider),
      topic: s.optional(topic()),
      enabled: s.optional(s.queryFlag()),
    }),
    reply: createPageSchema('models', ModelView),
  }),
  create: endpoint.post('/api/models', {
    shared: 'admin',
    summary: 'Register a model',
    access: 'admin',
    audit: 'models.create',
    example: { name: 'qwen', provider: 'ollama', modelId: 'qwen3' },
    body: NewModel,
    reply: ModelView,
    status: 201,
  }),
  get: endpoint.get('/api/models/{name}', {
    shared: 'member',
    summary: 'Get a model',
    reply: ModelView,
  }),
  update: endpoint.patch('/api/models/{name}', {
    shared: 'admin',
    summary: 'Update the settings of a model',
    access: 'admin',
    audit: 'models.update',
    example: { contextWindow: 32_768, topics: ['triage'] },
    body: ModelChanges,
    reply: ModelView,
  }),
  delete: endpoint.delete('/api/models/{name}', {
    shared: 'admin',
    summary: 'Delete the registration of a model',
    description: 'The installed files of the model are kept.',
    access: 'admin',
    audit: 'models.delete',
  }),
  default: endpoint.post('/api/models/{name}/default', {
    summary: 'Set the default model',
    access: 'admin',
    audit: 'models.default',
    reply: ModelView,
  }),
  check: endpoint.post('/api/models/{name}/test', {
    shared: 'admin',
    summary: 'Test a registered model',
    maxReplyMs: 120_000,
    access: 'admin',
    audit: 'models.check',
    reply: Probed,
  }),
  test: endpoint.post('/api/models/test', {
    shared: 'admin',
    summary: 'Test an unregistered model',
    maxReplyMs: 120_000,
    access: 'admin',
    audit: 'models.test',
    example: { provider: 'ollama', modelId: 'qwen3' },
    body: ModelTrial,
    reply: Probed,
  }),
  routing: endpoint.get('/api/models/routing', {
    summary: 'Get the model routing',
    reply: RoutingView,
  }),
  'set-routing': endpoint.put('/api/models/routing', {
    summary: 'Update the model routing',
    description: 'Omitted fields keep their values.',
    access: 'admin',
    audit: 'models.set-routing',
    example: { topics: [{ topic: 'triage', primary: 'digest', fallbacks: [] }] },
    body: RoutingChanges,
    reply: RoutingView,
  }),
  health: endpoint.get('/api/models/health', {
    shared: 'member',
    summary: 'Get the health of all models',
    maxReplyMs: 120_000,
    query: s.object('ModelHealthQuery', {
      check: s.optional(
        s
          .queryFlag()
          .description(
            'Whether to test each model first. Defaults to `false`. Admins only. For an organization, its models are tested.',
          ),
      ),
    }),
    reply: s.object('ModelsHealth', {
      providers: s.list(
        s.object('ProviderHealth', { provider: Provider, model: s.text(100), ...state }),
      ),
    }),
  }),
  usage: endpoint.get('/api/models/usage', {
    shared: 'member',
    unmerged: true,
    summary: 'Get model usage and cost',
    query: pageQuery('ModelUsageQuery', {
      by: s.optional(
        s
          .oneOf('UsageBy', 'model', 'agent', 'hook', 'day')
          .description('Field to group by. Defaults to `model`.'),
      ),
      since: s.optional(s.moment().description('Start of the time range, inclusive')),
      until: s.optional(s.moment().description('End of the time range, exclusive')),
    }),
    reply: s.object('ModelUsage', {
      usage: s.list(
        s.object('UsageOf', {
          key: s
            .text(200)
            .description('Value of the group, for example the name of the model or the day'),
          ...spent,
        }),
        200,
      ),
      nextCursor: s
        .nullable(s.text(200))
        .description('Value of `cursor` for the next page. `null` on the last page'),
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
  asOf: s.text(10).description('Date of the price information'),
});

const Available = s.object('AvailableModels', {
  available: s
    .boolean()
    .description(
      'Whether the server returned a list of models. If not, `error` states the reason.',
    ),
  baseUrl: s.text(2000),
  error: s.nullable(s.text(2000)).description('Error message. `null` without an error'),
  models: s.list(
    s.object('AvailableModel', {
      modelId: s.text(200),
      contextWindow: s
        .nullable(count())
        .description('Size of the context window, in tokens. `null` if not known'),
      maxOutputTokens: s
        .nullable(count())
        .description('Maximum length of a reply, in tokens. `null` if not known'),
      price: s
        .nullable(
          s.object('AvailablePrice', {
            inputPerMTok: s.number(0, Number.MAX_VALUE),
            outputPerMTok: s.number(0, Number.MAX_VALUE),
          }),
        )
        .description(
          'Price in USD per million tokens. `null` if the server does not report a price',
        ),
      sizeBytes: s
        .nullable(count())
        .description(
          'Size on the disk of the server, in bytes. `null` if the server does not report a size',
        ),
    }),
    1000,
  ),
});
export type Available = s.Static<typeof Available>;
const serverQuery = (label: string) =>
  s.object(label, {
    baseUrl: s.optional(
      s
        .url(2000)
        .description(
          'Base URL of the server. Defaults to the server of the newest registered model of the provider. Only admins may set another server.',
        ),
    ),
  });

export const providers = contract({
  known: endpoint.get('/api/models/providers/{provider}/known', {
    summary: 'List built-in facts about the models of a provider',
    description:
      'The facts are shipped with Adjutant and cover a selection of models. Other models can be registered as well.',
    reply: s.object('KnownModels', { provider: Provider, models: s.list(KnownModel) }),
  }),
  ollama: endpoint.get('/api/models/providers/ollama/models', {
    summary: 'List models of an Ollama server',
    query: serverQuery('OllamaQuery'),
    reply: Available,
  }),
  litellm: endpoint.get('/api/models/providers/litellm/models', {
    summary: 'List models of a LiteLLM proxy',
    query: serverQuery('LitellmQuery'),
    reply: Available,
  }),
});
