import { sizeText } from '../../kernel/sizetext.js';
import type { MachineFit } from './machine.js';

export interface Candidate {
  model: string;
  useCases: readonly string[];
  parameters: number;
  totalBytes: number;
  runsOn: MachineFit['runsOn'];
  tokensPerSecond: { estimated: number | null; measured: { median: number } | null };
}

/** `model` is null if none fits or supports the use case. */
export interface Recommendation {
  model: string | null;
  why: string;
}

/** Tokens per second at which a reply can be read without waiting. */
const READABLE_SPEED = 5;

/** Largest embedding model that a CPU runs fast enough. */
const READER_PARAMETERS = 1e9;

/**
 * The largest model that runs entirely on the GPU, else the largest that is fast enough, else the
 * smallest that fits. Embedding models are chosen by size. Ties: more bytes, then by name.
 */
export const recommend = (candidates: readonly Candidate[], useCase: string): Recommendation => {
  const suited = candidates.filter(({ useCases }) => useCases.includes(useCase)).sort(bySize);
  if (suited.length === 0) return { model: null, why: `No model supports ${useCase}.` };
  const fitting = suited.filter(({ runsOn }) => runsOn !== 'none');
  const [smallest] = suited.slice(-1);
  if (fitting.length === 0) {
    const need = sizeText(smallest?.totalBytes ?? 0);
    return { model: null, why: `No model for ${useCase} fits. The smallest one needs ${need}.` };
  }
  return pickRecommendation(fitting, useCase);
};

const pickRecommendation = (fitting: Candidate[], useCase: string): Recommendation => {
  const onGpu = fitting.find(({ runsOn }) => runsOn === 'gpu');
  if (onGpu) {
    return {
      model: onGpu.model,
      why: `The largest model for ${useCase} that runs entirely on the GPU.`,
    };
  }
  if (useCase === 'embedding') return pickEmbeddingModel(fitting);
  const fast = fitting.find((each) => (speed(each) ?? 0) >= READABLE_SPEED);
  if (fast) {
    const text = `${fast.tokensPerSecond.measured ? 'measured' : 'estimated'} at ${shown(fast)}`;
    return {
      model: fast.model,
      why: `The largest model for ${useCase} that is fast enough: ${text}.`,
    };
  }
  const smallest = fitting.at(-1);
  const isUnknown = fitting.some((each) => speed(each) === null);
  const why = isUnknown
    ? `The smallest suitable model for ${useCase}. The speed of larger models is not known.`
    : `The smallest suitable model for ${useCase}. No suitable model reaches ${READABLE_SPEED} tokens per second.`;
  return { model: smallest?.model ?? null, why };
};

const pickEmbeddingModel = (fitting: Candidate[]): Recommendation => {
  const able = fitting.find(({ parameters }) => parameters <= READER_PARAMETERS);
  if (!able)
    return { model: fitting.at(-1)?.model ?? null, why: 'The smallest model for embedding.' };
  const why =
    'The largest model for embedding with at most 1 billion parameters, for use on the CPU.';
  return { model: able.model, why };
};

const bySize = (a: Candidate, b: Candidate): number =>
  b.parameters - a.parameters || b.totalBytes - a.totalBytes || compare(a.model, b.model);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const speed = ({ tokensPerSecond: { measured, estimated } }: Candidate): number | null =>
  measured ? measured.median : estimated;

const shown = (candidate: Candidate): string =>
  `${speedNumber(speed(candidate) ?? 0)} tokens per second`;

const speedNumber = (rate: number): string => rate.toFixed(rate >= 10 ? 0 : 1);
