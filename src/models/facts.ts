import * as s from '../kernel/contract/schema.js';

/** A number of tokens. */
export const tokens = () => s.whole(1, Number.MAX_SAFE_INTEGER);
const usd = () => s.amount(0, 1_000_000);

export const Provider = s.oneOf(
  'Provider',
  'openai',
  'anthropic',
  'google',
  'ollama',
  'litellm',
  'openrouter',
  'openai-compatible',
  'llama',
  'cli',
  'digest',
);

export const Price = s.object('Price', {
  inputPerMTok: usd(),
  outputPerMTok: usd(),
  perMinuteUsd: s.optional(usd().description('USD for a minute of speech')),
});
export const PriceOrNull = s
  .nullable(Price)
  .description('USD per million tokens; null: not known, or free');

export const Supports = s.object('Supports', {
  tools: s.flag(),
  vision: s.flag(),
  streaming: s.flag(),
  embeddings: s.flag(),
  transcription: s.flag(),
});

/** Facts of a model that makes vectors of texts. */
const embedding = {
  dimensions: s.whole(2, 8192).description('The numbers of a vector'),
  queryPrefix: s.anyText(200).description('Put before a query'),
  documentPrefix: s.anyText(200).description('Put before a text'),
  maxInputTokens: s.whole(16, 1_000_000).description('A text is cut there'),
  weight: s.amount(0, 1).description('Of what it finds beside what words find; measure it'),
};

export const ModelEmbedding = s.object('ModelEmbedding', embedding);
export type ModelEmbedding = s.Static<typeof ModelEmbedding>;

export const GivenEmbedding = s.object('GivenEmbedding', {
  dimensions: s.optional(embedding.dimensions),
  queryPrefix: s.optional(embedding.queryPrefix),
  documentPrefix: s.optional(embedding.documentPrefix),
  maxInputTokens: s.optional(embedding.maxInputTokens),
  weight: s.optional(embedding.weight),
});
export type GivenEmbedding = s.Static<typeof GivenEmbedding>;
