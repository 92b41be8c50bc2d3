import { inThread } from '../../kernel/threadtask.js';
import type { BandwidthTask } from './bandwidththread.js';

const FILE = new URL('./bandwidththread.js', import.meta.url);
const TASK: BandwidthTask = { bytes: 32 * 2 ** 20, ms: 120 };
/** Ours: more threads than this read no faster on machines with two channels of memory. */
const MAX_THREADS = 4;
const LIMIT_MS = 10_000;

/**
 * Measures how many bytes of memory the processors read in a second, all together. It takes a
 * second in threads of their own. Null if it fails.
 */
export const measureBandwidth = async (cores: number): Promise<number | null> => {
  const rounds: number[] = [];
  try {
    // What else runs can only slow it down, so the best of several counts.
    for (let round = 0; round < ROUNDS; round++) rounds.push(await readTogether(cores));
    return Math.max(...rounds);
  } catch {
    return null;
  }
};

const ROUNDS = 3;

const readTogether = async (cores: number): Promise<number> => {
  const failure = 'The bandwidth of memory could not be measured';
  const threads = Array.from({ length: Math.min(MAX_THREADS, Math.max(1, cores)) }, () =>
    inThread<number>({ file: FILE, input: TASK, limitMs: LIMIT_MS, failure }),
  );
  return (await Promise.all(threads)).reduce((sum, each) => sum + each, 0);
};
