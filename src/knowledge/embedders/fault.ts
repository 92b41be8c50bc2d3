import { type EmbedCall, type Embedder, EmbedderFailed } from './embedder.js';
import type { HealthRecord } from './health.js';

/** The cause of a failure: the embedder, or a text that it was given; null if it is not known. */
type Fault = 'embedder' | 'text' | null;

/** Texts of which no vectors came. */
interface FailedTexts extends Pick<EmbedCall, 'userId' | 'askedBy'> {
  texts: string[];
  failure: Pick<EmbedderFailed, 'message' | 'mayBeOfText'>;
}

/** A text that every embedder takes. */
export const HARMLESS_TEXT = 'ok';
/** Ours: the longest time of that text where it has to wait for others, in milliseconds. */
const QUEUED_MS = 60_000;

/**
 * Creates what finds the cause of failures: the embedder is asked for the vector of a harmless text,
 * and recorded as failed only if none comes of that either. So a text of one user takes it from
 * nobody else.
 */
export const createFaults = (health: HealthRecord) => {
  const trials = new Map<string, Promise<Fault>>();

  const attempt = async (
    embedder: Embedder,
    { userId, askedBy }: Pick<EmbedCall, 'userId' | 'askedBy'>,
  ): Promise<Fault> => {
    const { key, isQueued, queryMs } = embedder;
    const signal = AbortSignal.timeout(isQueued ? QUEUED_MS : queryMs);
    try {
      await embedder.embed([HARMLESS_TEXT], { use: 'query', userId, askedBy, signal });
      health.worked(key);
      return 'text';
    } catch (error) {
      const late = signal.aborted && !isQueued ? lateMessage(embedder) : null;
      const message = late ?? (error instanceof EmbedderFailed ? error.message : null);
      // A limit of the day, say, tells nothing of the embedder.
      if (message === null) return null;
      health.failed(key, message);
      return 'embedder';
    }
  };

  return {
    of: (embedder: Embedder, { texts, failure, ...by }: FailedTexts): Promise<Fault> => {
      const { key } = embedder;
      if (!failure.mayBeOfText || texts.every((text) => text === HARMLESS_TEXT)) {
        health.failed(key, failure.message);
        return Promise.resolve('embedder');
      }
      const trial = trials.get(key) ?? attempt(embedder, by).finally(() => trials.delete(key));
      trials.set(key, trial);
      return trial;
    },
    /** Waits until it is known of a failure whose cause is being looked for. */
    settled: async ({ key }: Embedder): Promise<void> => {
      await trials.get(key);
    },
  };
};

export const lateMessage = ({ name, queryMs }: Embedder): string =>
  `${name} did not answer within ${queryMs / 1000} s`;
