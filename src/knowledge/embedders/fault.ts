import type { Clock } from '../../kernel/clock.js';
import { type EmbedCall, type Embedder, EmbedderFailed } from './embedder.js';
import type { HealthRecord } from './health.js';

type Fault = 'embedder' | 'text' | null;

interface FailedTexts extends Pick<EmbedCall, 'userId' | 'askedBy'> {
  texts: string[];
  failure: Pick<EmbedderFailed, 'message' | 'mayBeOfText'>;
}

export const PROBE_TEXT = 'ok';
/** For this text if calls are queued, in milliseconds. Longer than a model may take to load. */
const QUEUED_MS = 600_000;

/**
 * Finds the cause of a failure by embedding a harmless text. The embedder counts as failed only if
 * that fails as well, so that a text of one user does not turn it off for others.
 */
export const createFaultFinder = (clock: Clock, health: HealthRecord) => {
  const trials = new Map<string, Promise<Fault>>();

  const attempt = async (
    embedder: Embedder,
    { userId, askedBy }: Pick<EmbedCall, 'userId' | 'askedBy'>,
  ): Promise<Fault> => {
    const { key, isQueued, queryMs } = embedder;
    const signal = clock.deadline(isQueued ? QUEUED_MS : queryMs);
    try {
      await embedder.embed([PROBE_TEXT], { use: 'query', userId, askedBy, signal });
      health.worked(key);
      return 'text';
    } catch (error) {
      const late = signal.aborted && !isQueued ? embedderTimeoutMessage(embedder) : null;
      const message = late ?? (error instanceof EmbedderFailed ? error.message : null);
      // Errors such as a daily limit say nothing about the embedder.
      if (message === null) return null;
      health.failed(key, message);
      return 'embedder';
    }
  };

  const probe = (embedder: Embedder, by: Pick<EmbedCall, 'userId' | 'askedBy'>): Promise<Fault> => {
    const { key } = embedder;
    const trial = trials.get(key) ?? attempt(embedder, by).finally(() => trials.delete(key));
    trials.set(key, trial);
    return trial;
  };

  return {
    /** Embeds the harmless text in any case. */
    probe,
    of: (embedder: Embedder, { texts, failure, ...by }: FailedTexts): Promise<Fault> => {
      if (!failure.mayBeOfText || texts.every((text) => text === PROBE_TEXT)) {
        health.failed(embedder.key, failure.message);
        return Promise.resolve('embedder');
      }
      return probe(embedder, by);
    },
    /** Waits for a running check of a failure. */
    settled: async ({ key }: Embedder): Promise<void> => {
      await trials.get(key);
    },
  };
};

export const embedderTimeoutMessage = ({ name, queryMs }: Embedder): string =>
  `${name} did not answer within ${queryMs / 1000} s`;
