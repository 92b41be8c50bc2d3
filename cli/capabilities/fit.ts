import type { ModelFit } from '../../src/client/index.js';
import { buildColumns, withDropOrder } from '../columns.js';
import { sizeText } from '../operations/counts.js';
import { speedText } from './machine.js';

const recommendedText = ({ recommendedFor }: ModelFit): string => recommendedFor.join(', ');

/** The uses that a model is the first choice for, or else all of its uses. */
const useText = (row: ModelFit): string => {
  const first = recommendedText(row);
  return first === '' ? row.useCases.join(', ') : `first: ${first}`;
};

/**
 * Tokens per second, the same limit as in the daemon. A slower model is chosen only if no other
 * fits.
 */
const SLOW = 5;

const isFast = ({ runsOn, tokensPerSecond }: ModelFit): boolean =>
  runsOn === 'gpu' || (tokensPerSecond.measured?.median ?? tokensPerSecond.estimated ?? 0) >= SLOW;

/**
 * The family, such as `qwen3` of `gguf:qwen3-4b:Q4_K_M`. Embedding models form families of their
 * own. Speech models are named by size only and form one family.
 */
const getModelFamily = ({ model, useCases }: ModelFit): string => {
  if (useCases.includes('speech')) return 'speech';
  const [, name = model] = /^[a-z]+:([^:]+)/.exec(model) ?? [];
  return `${name.replace(/-e?\d+(\.\d+)?[bm](-.*)?$/, '')} ${useCases.includes('embedding')}`;
};

/** Returns the first choices, the installed models, and the best model of each other family. */
export const bestOfFamilies = (rows: ModelFit[]): ModelFit[] => {
  const isKept = ({ recommendedFor, installed }: ModelFit) =>
    recommendedFor.length > 0 || installed;
  const kept = rows.filter(isKept);
  const shown = new Map(kept.map((row) => [getModelFamily(row), row]));
  const others = rows
    .filter((row) => !shown.has(getModelFamily(row)))
    .toSorted((one, other) => other.weightsBytes - one.weightsBytes);
  for (const row of others) {
    const before = shown.get(getModelFamily(row));
    // The largest fast model, or else the smallest.
    if (!before || !isFast(before)) shown.set(getModelFamily(row), row);
  }
  const best = new Set([...kept, ...shown.values()]);
  return rows.filter((row) => best.has(row));
};

const allColumns = buildColumns<ModelFit>(
  ['model:whole', 'name:data'],
  {
    name: 'memory',
    value: ({ totalBytes }) => totalBytes,
    show: (row) => sizeText(row.totalBytes),
  },
  { name: 'runs on', value: ({ runsOn }) => runsOn, show: ({ runsOn }) => runsOn, isState: true },
  {
    name: 'speed',
    value: ({ tokensPerSecond }) => tokensPerSecond.measured?.median ?? tokensPerSecond.estimated,
    show: speedText,
  },
  { name: 'use', value: useText, only: 'table' },
  ['context=contextWindow:number', 'licence'],
  { name: 'first for', value: recommendedText, only: 'data' },
  ['unit=tokensPerSecond.unit:data', 'installed:data', 'weights=weightsBytes:data'],
  ['cache=kvCacheBytes:data', 'buffer=bufferBytes:data', 'headroom=headroomBytes:data', 'why:data'],
);

export const fitColumns = withDropOrder(['licence', 'runs on', 'context', 'memory'], allColumns);
