import { hashOfChunk } from './hash.js';
import { detectLanguage } from './language.js';
import { type SplitChunk, splitIntoChunks, type TextToSplit } from './split.js';

/** One text, or the texts of pages. */
export type EntryText = string | { number: number; text: string }[];

/** Chunks of a split text. They stay in the thread until they are fetched in batches. */
export interface SplitSummary {
  chunks: number;
  batches: number;
  /** UTF-16 code units. */
  chars: number;
  language: string | null;
}

/** Chunks per batch. A batch is written in one transaction. */
export const CHUNKS_PER_BATCH = 64;
/** Number of texts whose batches are kept. The least recently used one is dropped. */
const MAX_KEPT = 8;

const batchCache = new Map<string, string[]>();

export const splitIntoBatches = async ({
  id,
  text,
}: {
  id: string;
  text: EntryText;
}): Promise<SplitSummary> => {
  const whole = wholeText(text);
  const language = await detectLanguage(whole.text);
  const { chunks } = splitIntoChunks(whole);
  const batches: string[] = [];
  for (let at = 0; at < chunks.length; at += CHUNKS_PER_BATCH) {
    batches.push(JSON.stringify(chunks.slice(at, at + CHUNKS_PER_BATCH).map(hashed)));
  }
  if (batches.length > 0) keep(id, batches);
  return { chunks: chunks.length, batches: batches.length, chars: whole.text.length, language };
};

/**
 * Returns a JSON array of chunks, or null if the text is not kept. Fetching the last batch frees
 * it.
 */
export const takeBatch = ({ id, at }: { id: string; at: number }): string | null => {
  const batches = batchCache.get(id);
  if (!batches) return null;
  if (at >= batches.length - 1) batchCache.delete(id);
  else keep(id, batches);
  return batches[at] ?? null;
};

const keep = (id: string, batches: string[]): void => {
  batchCache.delete(id);
  batchCache.set(id, batches);
  const [oldest] = batchCache.keys();
  if (oldest !== undefined && batchCache.size > MAX_KEPT) batchCache.delete(oldest);
};

const wholeText = (text: EntryText): TextToSplit => {
  if (typeof text === 'string') return { text: plainText(text), pages: [] };
  let whole = '';
  const pages = text.map(({ number, text: page }) => {
    const start = whole.length;
    whole += `${plainText(page).trimEnd()}\n\n`;
    return { number, start };
  });
  return { text: whole, pages };
};

/**
 * Replaces NUL characters by spaces and lone surrogates by U+FFFD, which SQLite would read as three
 * characters in the JSON of a batch.
 */
const plainText = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');

const hashed = ({ start, text, heading, page }: SplitChunk) => ({
  start,
  text,
  heading,
  page,
  hash: hashOfChunk({ heading, text }),
});
