import { inThread } from '../../kernel/threadtask.js';
import type { BandwidthTask } from './bandwidththread.js';

const FILE = new URL('./bandwidththread.js', import.meta.url);
const TASK: BandwidthTask = { bytes: 32 * 2 ** 20, ms: 120 };
/** More threads are not faster on machines with two memory channels. */
const MAX_THREADS = 4;
const LIMIT_MS = 10_000;

/** Total memory read bandwidth in bytes per second; null if the measurement fails. Takes a second. */
export const measureBandwidth = async (cores: number): Promise<number | null> => {
  const rounds: number[] = [];
  try {
    // Other programs can only slow it down, so the best round counts.
    for (let round = 0; round < ROUNDS; round++) rounds.push(await readTogether(cores));
    return Math.max(...rounds);
  } catch {
    return null;
  }
};

const ROUNDS = 3;

const readTogether = async (cores: number): Promise<number> => {
  const failure = 'The memory bandwidth could not be measured';
  const threads = Array.from({ length: Math.min(MAX_THREADS, Math.max(1, cores)) }, () =>
    inThread<number>({ file: FILE, input: TASK, limitMs: LIMIT_MS, failure }),
  );
  return (await Promise.all(threads)).reduce((sum, each) => sum + each, 0);
};
