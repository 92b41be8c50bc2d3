import type { SlidingWindow } from './shape.js';

interface WindowRule {
  /** One of every `period` layers attends to the whole context: the last, or the first. */
  period: number;
  isFirstWhole?: true;
  /** Default window, and a fixed window. */
  unnamed?: number;
  always?: number;
  /** Only models with this number of layers have a window. */
  onlyLayers?: number;
}

/** From llama.cpp (src/models). Other architectures state each layer, or have none. */
const RULES: Record<string, WindowRule> = {
  gemma2: { period: 2, unnamed: 4096 },
  gemma3: { period: 6 },
  gemma3n: { period: 5 },
  'gemma-embedding': { period: 6 },
  cohere2: { period: 4 },
  cohere2moe: { period: 4, isFirstWhole: true },
  'gpt-oss': { period: 2 },
  exaone4: { period: 4, unnamed: 4096, onlyLayers: 64 },
  'exaone-moe': { period: 4, unnamed: 128 },
  olmo2: { period: 4 },
  llama4: { period: 4, unnamed: 8192, always: 8192 },
  smallthinker: { period: 4, isFirstWhole: true, always: 4096 },
  plamo3: { period: 8 },
  afmoe: { period: 4 },
  mellum: { period: 4 },
  laguna: { period: 4, isFirstWhole: true },
  'modern-bert': { period: 3, isFirstWhole: true },
};

interface NamedWindow {
  architecture: string;
  layers: number;
  /** `attention.sliding_window` and `attention.sliding_window_pattern`. */
  window: number | null;
  pattern: number | boolean[] | null;
  keyLength: number;
  valueLength: number;
}

/** As in llama.cpp, which ignores the stated window for some architectures. */
export const resolveSlidingWindow = (named: NamedWindow): SlidingWindow | null => {
  const { architecture, layers, pattern, keyLength, valueLength } = named;
  const rule = RULES[architecture];
  const isList = Array.isArray(pattern) && pattern.length >= layers;
  if (!rule && !isList) return null;
  if (rule?.onlyLayers && rule.onlyLayers !== layers) return null;
  if (named.window === 0) return null;
  const window = named.window === null ? rule?.unnamed : (rule?.always ?? named.window);
  if (!window) return null;
  const period = typeof pattern === 'number' ? pattern : (rule?.period ?? 0);
  const isSliding = (layer: number): boolean =>
    isList ? pattern[layer] === true : isWithin(layer, period, rule?.isFirstWhole ?? false);
  const sliding = Array.from({ length: layers }, (_, layer) => isSliding(layer));
  return { window, layers: sliding, keyLength, valueLength };
};

const isWithin = (layer: number, period: number, isFirstWhole: boolean): boolean => {
  if (period === 0) return true;
  return isFirstWhole ? layer % period !== 0 : layer % period < period - 1;
};
