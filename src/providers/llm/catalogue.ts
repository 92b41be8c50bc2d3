type KnownModel = ReturnType<typeof table>[number];

/** Context window and maximum reply in tokens, prices in USD per million tokens. */
type CatalogueRow = [modelId: string, window: number, output: number, prices: [number, number]];

const K = 1000;

/**
 * All models support tools, images and streaming. `asOf` is the date of the price. A price set by
 * an admin takes precedence.
 */
const table = (asOf: string, rows: CatalogueRow[]) =>
  rows.map(([modelId, contextWindow, maxOutputTokens, [inputPerMTok, outputPerMTok]]) => ({
    modelId,
    contextWindow,
    maxOutputTokens,
    vision: true,
    price: { inputPerMTok, outputPerMTok },
    asOf,
  }));

/**
 * A selection. Published prices in USD per million tokens, without caching, batches or surcharges
 * (Gemini 2.5 Pro doubles beyond 200,000 prompt tokens). They fill in values that a new model
 * omits.
 */
const TABLES: Record<string, KnownModel[]> = {
  openai: table('2025-11-30', [
    ['gpt-5', 400 * K, 128 * K, [1.25, 10]],
    ['gpt-5-mini', 400 * K, 128 * K, [0.25, 2]],
    ['gpt-5-nano', 400 * K, 128 * K, [0.05, 0.4]],
    ['gpt-4.1', 1_047_576, 32_768, [2, 8]],
    ['gpt-4.1-mini', 1_047_576, 32_768, [0.4, 1.6]],
    ['gpt-4.1-nano', 1_047_576, 32_768, [0.1, 0.4]],
    ['gpt-4o', 128 * K, 16_384, [2.5, 10]],
    ['gpt-4o-mini', 128 * K, 16_384, [0.15, 0.6]],
    ['o3', 200 * K, 100 * K, [2, 8]],
    ['o4-mini', 200 * K, 100 * K, [1.1, 4.4]],
  ]),
  anthropic: [
    ...table('2026-07-24', [['claude-opus-5', 1000 * K, 128 * K, [5, 25]]]),
    ...table('2025-11-30', [
      ['claude-opus-4-5', 200 * K, 64 * K, [5, 25]],
      ['claude-sonnet-4-5', 200 * K, 64 * K, [3, 15]],
      ['claude-haiku-4-5', 200 * K, 64 * K, [1, 5]],
      ['claude-opus-4-1', 200 * K, 32 * K, [15, 75]],
    ]),
  ],
  google: table('2025-11-30', [
    ['gemini-2.5-pro', 1_048_576, 65_536, [1.25, 10]],
    ['gemini-2.5-flash', 1_048_576, 65_536, [0.3, 2.5]],
    ['gemini-2.5-flash-lite', 1_048_576, 65_536, [0.1, 0.4]],
  ]),
};

export const knownModels = (provider: string): KnownModel[] =>
  Object.hasOwn(TABLES, provider) ? (TABLES[provider] ?? []) : [];

/** Also matches a release date suffix, as in `claude-sonnet-4-5-20250929`. */
export const knownModel = (provider: string, modelId: string): KnownModel | undefined =>
  knownModels(provider).find(
    (known) => known.modelId === modelId.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, ''),
  );
