import { createFairQueue } from './fairqueue.js';
import { redacted, redactor } from './redact.js';
import { StepLimit, StepLimitExceeded } from './steplimit.js';
import { inThread } from './threadtask.js';

const MAX_HERE = 65_536;
const MAX_STEPS = 250_000;
/** Maximum characters of the secrets, because each is encoded in a dozen ways. */
const MAX_SECRET = 2_048;
/** Each thread holds the text twice. */
const threads = createFairQueue({ atOnce: 2, waiting: Number.POSITIVE_INFINITY });
/** No reply of a service takes longer. Text that was not searched is not returned. */
const LIMIT_MS = 30_000;
const FILE = new URL('./redactthread.js', import.meta.url);

/**
 * Uses a thread if the event loop would be blocked. Throws if the thread fails, so that no
 * unsearched text passes.
 */
export const redactInWorker = async (
  value: unknown,
  secrets: string[],
  shown?: string,
): Promise<unknown> => {
  const values = [...new Set(secrets)];
  if (values.length === 0) return value;
  if (sum(values) <= MAX_SECRET && estimateWeight(value) <= MAX_HERE) {
    try {
      return redacted(value, redactor(values, shown, new StepLimit(MAX_STEPS)));
    } catch (error) {
      if (!(error instanceof StepLimitExceeded)) throw error;
    }
  }
  return threads.take('redaction', () =>
    inThread({
      file: FILE,
      input: { value, values, shown },
      limitMs: LIMIT_MS,
      failure: 'A text could not be redacted',
    }),
  );
};

export const redactTextInWorker = async (
  text: string,
  secrets: string[],
  shown?: string,
): Promise<string> => String(await redactInWorker(text, secrets, shown));

const sum = (texts: string[]): number => texts.reduce((all, { length }) => all + length, 0);

const estimateWeight = (value: unknown): number => {
  let weight = 0;
  const left = [value];
  while (left.length > 0 && weight <= MAX_HERE) {
    const one = left.pop();
    if (typeof one === 'string') weight += one.length;
    else if (typeof one === 'object' && one !== null) {
      weight += 8;
      for (const [key, inner] of Object.entries(one)) left.push(key, inner);
    }
  }
  return weight;
};
