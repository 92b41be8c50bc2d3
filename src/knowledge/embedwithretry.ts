import {
  byteVector,
  DayLimitReached,
  type EmbedCall,
  type Embedder,
  EmbedderFailed,
} from './embedders/embedder.js';
import type { Embedders } from './embedders/registry.js';

export interface RetryingEmbedCall extends EmbedCall {
  tell(note: string): void;
}

/** Delay after the first failure, in milliseconds. It doubles up to the maximum. */
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;
/**
 * After this number of failures, while the embedder works for another text, the text gets no
 * vector.
 */
const MAX_FAULTS = 2;

/**
 * Creates vectors, and waits while the embedder fails or a limit is reached. Resolves to null if
 * another embedder becomes active. A text that causes failures gets no vector.
 */
export const embedWithRetry = async (
  embedders: Pick<Embedders, 'embed' | 'change' | 'inForce'>,
  embedder: Embedder,
  texts: string[],
  call: RetryingEmbedCall,
): Promise<(Uint8Array | null)[] | null> => {
  let faults = 0;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    if (texts.length === 0) return [];
    try {
      return (await embedders.embed(embedder, texts, call)).map(byteVector);
    } catch (error) {
      if (!(error instanceof EmbedderFailed || error instanceof DayLimitReached)) throw error;
      if (error instanceof EmbedderFailed && error.isOfText) {
        if (texts.length > 1) return embedSingly(embedders, embedder, texts, call);
        if (++faults === MAX_FAULTS) return [null];
      }
      call.tell(`Waiting: ${error.message}`.slice(0, 200));
      await embedders.change(waitMs, call.signal);
      if (embedders.inForce()?.key !== embedder.key) return null;
    }
  }
};

const embedSingly: typeof embedWithRetry = async (embedders, embedder, texts, call) => {
  const vectors: (Uint8Array | null)[] = [];
  for (const text of texts) {
    const one = await embedWithRetry(embedders, embedder, [text], call);
    if (!one) return null;
    vectors.push(...one);
  }
  return vectors;
};
