import { Worker } from 'node:worker_threads';
import { createTurns } from './fairqueue.js';
import { redacted, redactor } from './redact.js';
import { Effort, TooMuchEffort } from './stepbudget.js';

/** Ours: so many characters are redacted on the event loop. */
const MOST_HERE = 65_536;
/** Ours: of the steps that escapes and repetitions take besides, so many: some 10 ms. */
const MOST_STEPS = 250_000;
/** Characters of the secrets themselves, which are encoded in a dozen ways before one is found. */
const MOST_SECRET = 2_048;
/** Ours: each of the threads holds the text twice. */
const threads = createTurns({ atOnce: 2, waiting: Number.POSITIVE_INFINITY });
/** Ours: no answer of a service takes longer, and what is not looked through is not passed on. */
const LONGEST_MS = 30_000;
const FILE = new URL('./redactthread.js', import.meta.url);

/**
 * All texts of a value without the secrets, as `redacted` with a `redactor` of them; in a thread of
 * its own where that would hold the event loop. Fails where the thread does, so that nothing passes
 * that was not looked through.
 */
export const redactApart = async (
  value: unknown,
  secrets: string[],
  shown?: string,
): Promise<unknown> => {
  const values = [...new Set(secrets)];
  if (values.length === 0) return value;
  const isSmall = sum(values) <= MOST_SECRET && weightOf(value) <= MOST_HERE;
  const here = isSmall ? redactHere(value, values, shown) : null;
  if (here) return here.value;
  return threads.take('redaction', () => inThread({ value, values, shown }));
};

/** The same for one text. */
export const redactTextApart = async (
  text: string,
  secrets: string[],
  shown?: string,
): Promise<string> => String(await redactApart(text, secrets, shown));

/** Null where it would take too long. */
const redactHere = (
  value: unknown,
  values: string[],
  shown?: string,
): { value: unknown } | null => {
  try {
    return { value: redacted(value, redactor(values, shown, new Effort(MOST_STEPS))) };
  } catch (error) {
    if (error instanceof TooMuchEffort) return null;
    throw error;
  }
};

const sum = (texts: string[]): number => texts.reduce((all, { length }) => all + length, 0);

/** Characters of all texts of a value; more than `MOST_HERE` is not counted. */
const weightOf = (value: unknown): number => {
  let weight = 0;
  const left = [value];
  while (left.length > 0 && weight <= MOST_HERE) {
    const one = left.pop();
    if (typeof one === 'string') weight += one.length;
    else if (typeof one === 'object' && one !== null) {
      weight += 8;
      for (const [key, inner] of Object.entries(one)) left.push(key, inner);
    }
  }
  return weight;
};

const inThread = (workerData: object): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(FILE, { workerData });
    const late = setTimeout(() => worker.terminate(), LONGEST_MS);
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => {
      clearTimeout(late);
      reject(new Error('A text could not be looked through for secrets'));
    });
  });
