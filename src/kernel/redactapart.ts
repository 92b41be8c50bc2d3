import { Effort, TooMuchEffort } from './effort.js';
import { createTurns } from './fairqueue.js';
import { redacted, redactor } from './redact.js';
import { inThread } from './threadtask.js';

/** Ours: the most characters that are redacted on the event loop. */
const MAX_HERE = 65_536;
/** Ours: the most steps for escapes and repetitions in addition, about 10 ms. */
const MAX_STEPS = 250_000;
/**
 * The most characters of the secrets themselves, because each is encoded in a dozen ways before the
 * search.
 */
const MAX_SECRET = 2_048;
/** Ours: two threads at once, because each of them holds the text twice. */
const threads = createTurns({ atOnce: 2, waiting: Number.POSITIVE_INFINITY });
/** Ours: no reply of a service takes longer, and text that was not searched is not passed on. */
const LIMIT_MS = 30_000;
const FILE = new URL('./redactthread.js', import.meta.url);

/**
 * Returns a value with all its texts redacted, as `redacted` with a `redactor` does, in a separate
 * thread if it would block the event loop. Fails if the thread fails, so that no unsearched text
 * passes.
 */
export const redactApart = async (
  value: unknown,
  secrets: string[],
  shown?: string,
): Promise<unknown> => {
  const values = [...new Set(secrets)];
  if (values.length === 0) return value;
  if (sum(values) <= MAX_SECRET && weightOf(value) <= MAX_HERE) {
    try {
      return redacted(value, redactor(values, shown, new Effort(MAX_STEPS)));
    } catch (error) {
      if (!(error instanceof TooMuchEffort)) throw error;
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

/** Does the same for one text. */
export const redactTextApart = async (
  text: string,
  secrets: string[],
  shown?: string,
): Promise<string> => String(await redactApart(text, secrets, shown));

const sum = (texts: string[]): number => texts.reduce((all, { length }) => all + length, 0);

/**
 * Returns the number of characters of all texts of a value. It stops counting above `MAX_HERE`.
 */
const weightOf = (value: unknown): number => {
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
