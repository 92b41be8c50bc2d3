import { hashOfChunk } from './hash.js';
import { languageOf } from './language.js';
import { type SplitChunk, splitIntoChunks, type TextToSplit } from './split.js';

/** The text of an entry: without pages, or the texts of its pages. */
export type EntryText = string | { number: number; text: string }[];

/** A text that was split. Its chunks stay in the thread until they are fetched, batch by batch. */
export interface SplitSummary {
  chunks: number;
  batches: number;
  /** The length of the whole text in UTF-16 code units. */
  chars: number;
  /** The code of its language; null if it is not known. */
  language: string | null;
}

/** Ours: the chunks of a batch, which is written in one transaction. */
export const CHUNKS_OF_BATCH = 64;
/** Ours: the texts whose batches are kept at once; the one that was used longest ago gives way. */
const MAX_KEPT = 8;

const kept = new Map<string, string[]>();

/** Splits a text into chunks and keeps these under an ID. */
export const splitIntoBatches = async ({
  id,
  text,
}: {
  id: string;
  text: EntryText;
}): Promise<SplitSummary> => {
  const whole = wholeText(text);
  const language = await languageOf(whole.text);
  const { chunks } = splitIntoChunks(whole);
  const batches: string[] = [];
  for (let at = 0; at < chunks.length; at += CHUNKS_OF_BATCH) {
    batches.push(JSON.stringify(chunks.slice(at, at + CHUNKS_OF_BATCH).map(hashed)));
  }
  if (batches.length > 0) keep(id, batches);
  return { chunks: chunks.length, batches: batches.length, chars: whole.text.length, language };
};

/** Returns a batch as a JSON array of chunks; null if the text is not kept. The last one frees it. */
export const takeBatch = ({ id, at }: { id: string; at: number }): string | null => {
  const batches = kept.get(id);
  if (!batches) return null;
  if (at >= batches.length - 1) kept.delete(id);
  else keep(id, batches);
  return batches[at] ?? null;
};

/** Keeps batches as those that were used last. */
const keep = (id: string, batches: string[]): void => {
  kept.delete(id);
  kept.set(id, batches);
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > MAX_KEPT) kept.delete(oldest);
};

/** Joins pages to one text. */
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
 * Replaces what is in no text: NUL characters by spaces, and lone halves of surrogate pairs by U+FFFD,
 * since SQLite would read one in the JSON of a batch as three characters.
 */
const plainText = (text: string): string => text.toWellFormed().replaceAll('\0', ' ');

const hashed = ({ start, text, heading, page }: SplitChunk) => ({
  start,
  text,
  heading,
  page,
  hash: hashOfChunk({ heading, text }),
});
