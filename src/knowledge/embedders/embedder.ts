import { NamedError } from '../../kernel/failure.js';

/** The reason for which vectors are made: a query is not embedded as a text is. */
export type EmbedUse = 'query' | 'document';

/** The caller that has vectors made, and the end of its patience. */
export interface EmbedCall {
  use: EmbedUse;
  userId: string;
  /** The id of what asks, under which the cost is counted. */
  askedBy: string;
  signal: AbortSignal;
}

/** A maker of vectors: two texts that mean the same have vectors of nearly the same direction. */
export interface Embedder {
  /** All that its vectors depend on: those of the same key can be compared. */
  key: string;
  /** The name of its model, or `builtin`. */
  name: string;
  dimensions: number;
  /** The weight of what it finds beside what words find, from 0 to 1. */
  weight: number;
  /** True: it takes English texts alone. */
  isEnglish: boolean;
  /** The least likeness of what it finds, as a cosine; 0 if any counts. */
  leastLikeness: number;
  /** The most texts of one call. */
  atOnce: number;
  /** The longest time of the vector of a query, in milliseconds. */
  queryMs: number;
  /** True: texts wait here for each other, so that one that comes late says nothing of it. */
  isQueued: boolean;
  /**
   * Makes the vectors of texts, in their order. Throws EmbedderFailed, DayLimitReached, or the
   * reason of the signal.
   */
  embed(texts: string[], call: EmbedCall): Promise<ArrayLike<number>[]>;
}

/** The error of an embedder that made no vectors. The message names it, and quotes no text. */
export class EmbedderFailed extends NamedError {
  /** True if a text that it was given may be the cause. */
  mayBeOfText = false;
  /** True if it is: another text was embedded right afterwards. */
  isOfText = false;
}

/** The error of a call that a limit of the user's day forbids. */
export class DayLimitReached extends NamedError {
  override message = 'Your daily limit does not allow more calls of the embedding model';
}

/**
 * Stores a vector with one byte a dimension. Its length is lost, which a comparison of directions
 * does not need. Returns null for one of zeros: it has no direction.
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
