import { createHash } from 'node:crypto';
import type { SplitChunk } from './split.js';

type ChunkText = Pick<SplitChunk, 'heading' | 'text'>;

/**
 * Returns the text whose vector represents a chunk. The title is left out: it made results slightly
 * worse on CISI, and may be a file name.
 */
export const textToEmbed = ({ heading, text }: ChunkText): string =>
  heading === null ? text.trim() : `${heading}\n${text.trim()}`;

export const hashOfChunk = (chunk: ChunkText): string =>
  createHash('sha256').update(textToEmbed(chunk)).digest('base64url');
