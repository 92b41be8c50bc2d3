import * as s from '../kernel/contract/schema.js';

export const tokens = () => s.integer(1, Number.MAX_SAFE_INTEGER);
const usd = () => s.number(0, 1_000_000);

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
  perMinuteUsd: s.optional(
    usd().description(
      'Price per minute of transcribed audio, in USD. If omitted, transcription has no price',
    ),
  ),
});
export const PriceOrNull = s
  .nullable(Price)
  .description(
    'Price in USD per million tokens. `null` if the price is unknown or the model is free.',
  );

const supported = {
  tools: s.boolean().description('Whether the model supports tools'),
  vision: s.boolean().description('Whether the model reads images'),
  streaming: s.boolean().description('Whether the model streams its replies'),
  embeddings: s.boolean().description('Whether the model creates embeddings'),
  transcription: s.boolean().description('Whether the model transcribes speech'),
};

export const Supports = s.object('Supports', supported);

export const GivenSupports = s.object('GivenSupports', {
  tools: s.optional(supported.tools),
  vision: s.optional(supported.vision),
  streaming: s.optional(supported.streaming),
  embeddings: s.optional(supported.embeddings),
  transcription: s.optional(supported.transcription),
});

const embedding = {
  dimensions: s.integer(2, 8192).description('Number of dimensions of a vector'),
  queryPrefix: s.anyText(200).description('Text to prepend to each query'),
  documentPrefix: s.anyText(200).description('Text to prepend to each document'),
  maxInputTokens: s
    .integer(16, 1_000_000)
    .description('Maximum length of a text, in tokens. Longer texts are cut.'),
  weight: s
    .number(0, 1)
    .description('Weight of vector search relative to keyword search, from 0 to 1'),
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
