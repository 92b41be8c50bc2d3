import { createHash } from 'node:crypto';
import type { SplitChunk } from './split.js';

type ChunkText = Pick<SplitChunk, 'heading' | 'text'>;

/**
 * Returns the text of which the vector of a chunk is made. The title of the entry is none of it: it
 * made the search slightly worse over CISI, and may be the name of a file.
 */
export const textToEmbed = ({ heading, text }: ChunkText): string =>
  heading === null ? text.trim() : `${heading}\n${text.trim()}`;

/** Returns the hash by which the vector of a chunk is kept. */
export const hashOfChunk = (chunk: ChunkText): string =>
  createHash('sha256').update(textToEmbed(chunk)).digest('base64url');
