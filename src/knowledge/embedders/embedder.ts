import { NamedError } from '../../kernel/failure.js';

export type EmbedUse = 'query' | 'document';

export interface EmbedCall {
  use: EmbedUse;
  userId: string;
  /** ID under which the cost is recorded. */
  askedBy: string;
  signal: AbortSignal;
}

/** Creates vectors. Texts with a similar meaning have vectors with a similar direction. */
export interface Embedder {
  /** Vectors with the same key can be compared. */
  key: string;
  name: string;
  dimensions: number;
  /** Weight of vector results compared with keyword results, from 0 to 1. */
  weight: number;
  isEnglish: boolean;
  /** Minimum cosine similarity of results. 0 accepts all. */
  leastLikeness: number;
  atOnce: number;
  /** Maximum time for the vector of a query, in milliseconds. */
  queryMs: number;
  /** Whether calls wait for each other or for loading, so that a timeout does not mean a failure. */
  isQueued: boolean;
  /**
   * Returns the vectors in the order of the texts. Throws EmbedderFailed, DayLimitReached, or the
   * reason of the signal.
   */
  embed(texts: string[], call: EmbedCall): Promise<ArrayLike<number>[]>;
}

/** The message names the embedder and contains no user text. */
export class EmbedderFailed extends NamedError {
  /** Whether one of the texts may be the cause. */
  mayBeOfText = false;
  /** Whether a text is the cause: another text was embedded right afterwards. */
  isOfText = false;
}

export class DayLimitReached extends NamedError {
  override message = 'Your daily limit does not allow more calls of the embedding model';
}

/**
 * Quantizes a vector to one byte per dimension. Its length is lost, which the cosine does not need.
 * Returns null for a zero vector.
 */
export const byteVector = (vector: ArrayLike<number>): Uint8Array | null => {
  let most = 0;
  for (let at = 0; at < vector.length; at++) most = Math.max(most, Math.abs(vector[at] ?? 0));
  if (!(most > 0)) return null;
  const bytes = new Int8Array(vector.length);
  for (let at = 0; at < vector.length; at++)
    bytes[at] = Math.round(((vector[at] ?? 0) / most) * 127);
  return new Uint8Array(bytes.buffer);
};
