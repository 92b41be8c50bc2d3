import { contract } from '../../kernel/contract/endpoint.js';
import {
  amount,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Static,
  text,
  whole,
} from '../../kernel/contract/schema.js';

const tokens = () => whole(1, Number.MAX_SAFE_INTEGER);
const count = () => whole(0, Number.MAX_SAFE_INTEGER);
const usd = () => amount(0, 1_000_000);

/** Same as in the contract of models, since contracts do not import each other. */
export const Provider = oneOf(
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
const Supports = object('Supports', {
  tools: flag(),
  vision: flag(),
  streaming: flag(),
  embeddings: flag(),
});

const KnownModel = object('KnownModel', {
  modelId: text(200),
  contextWindow: tokens(),
  maxOutputTokens: tokens(),
  supports: Supports,
  price: Price,
  asOf: text(10).description('The day on which the price was read'),
});

const Available = object('AvailableModels', {
  available: flag().description('false: the server did not answer, error says why'),
  baseUrl: text(2000),
  error: nullable(text(2000)),
  models: list(
    object('AvailableModel', {
      modelId: text(200),
      contextWindow: nullable(count()),
      maxOutputTokens: nullable(count()),
      price: nullable(
        object('AvailablePrice', {
          inputPerMTok: amount(0, Number.MAX_VALUE),
          outputPerMTok: amount(0, Number.MAX_VALUE),
        }),
      ),
      sizeBytes: nullable(count()),
    }),
    1000,
  ),
});
export type Available = Static<typeof Available>;
const serverQuery = (label: string) =>
  object(label, {
    baseUrl: optional(text(2000).description('Another server than that of the registry; admins')),
  });

export const providers = contract({
  known: {
    method: 'GET',
    path: '/api/models/providers/{provider}/known',
    summary: 'Published facts about a provider’s models',
    reply: object('KnownModels', { provider: Provider, models: list(KnownModel) }),
  },
  ollama: {
    method: 'GET',
    path: '/api/models/providers/ollama/models',
    summary: 'What Ollama has pulled',
    query: serverQuery('OllamaQuery'),
    reply: Available,
  },
  litellm: {
    method: 'GET',
    path: '/api/models/providers/litellm/models',
    summary: 'What a LiteLLM proxy routes',
    query: serverQuery('LitellmQuery'),
    reply: Available,
  },
});
