import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { foldText } from '../kernel/searchwords.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { insertRow } from '../store/rows.js';
import { type KnowledgeEntryRow, knowledgeEntryTable } from '../store/tables/knowledge.js';
import { hashOfChunk } from './hash.js';
import type { SplitChunk, TextToSplit } from './procedures/split.js';
import { type KnowledgeStore, tagSteps } from './queries.js';
import type { SearchIndex } from './searchindex.js';

/** A text that becomes an entry. */
export interface KnowledgeText {
  userId: string;
  sourceType: KnowledgeEntryRow['source_type'];
  /** The thing that it was made from; the entry that was made from it before is replaced. */
  sourceId: string | null;
  uri: string | null;
  title: string;
  tags: string[];
  /** `owner` only for what the person wrote or confirmed. */
  trust: KnowledgeEntryRow['trust'];
  /** A text without pages, or the texts of its pages. */
  text: string | { number: number; text: string }[];
}

/** An entry that is ready to be written. */
export interface PreparedEntry {
  id: string;
  chunks: number;
  /**
   * The transactions that write it, in this order. Until the last one is committed the entry has no
   * chunks that can be found.
   */
  transactions: TransactionStep[][];
}

/** Ours: the chunks that are written in one transaction. */
const CHUNKS_AT_ONCE = 200;
const LONGEST_TITLE = 300;

interface EntriesDeps {
  clock: Clock;
  entries: KnowledgeStore;
  index: Pick<SearchIndex, 'split'>;
}

/** Splits a text and builds the transactions that write it as an entry with the state `indexing`. */
export const prepareEntry = async (
  { clock, entries, index }: EntriesDeps,
  given: KnowledgeText,
): Promise<PreparedEntry> => {
  const whole = wholeText(given.text);
  const { chunks, language } = await index.split(given.userId, whole);
  const { userId, sourceType, sourceId } = given;
  const before =
    sourceId === null ? undefined : await entries.ofSource(userId, sourceType, sourceId);
  const row = rowOf(given, { now: clock.now(), before, language });
  const of = { id: row.id, userId };
  const first = before ? replacement(row) : [insertRow(knowledgeEntryTable, row)];
  const batches: TransactionStep[][] = [];
  for (let at = 0; at < chunks.length; at += CHUNKS_AT_ONCE) {
    batches.push([insertChunks(of, chunks.slice(at, at + CHUNKS_AT_ONCE), at)]);
  }
  const last = {
    sql: 'UPDATE knowledge_entries SET chunks = ?, chars = ? WHERE user_id = ? AND id = ?',
    parameters: [chunks.length, whole.text.length, userId, row.id],
    expect: 1,
  };
  const [firstChunks = [], ...more] = batches;
  const transactions = [
    [...first, ...tagSteps({ ...of, tags: row.tags }), ...firstChunks],
    ...more,
  ];
  const earlier = before ? await entries.hashes(userId, before.id) : [];
  transactions.at(-1)?.push(last, ...(before ? [removeVectors(userId, earlier)] : []));
  return { id: row.id, chunks: chunks.length, transactions };
};

/** Joins pages to one text. NUL characters, which are in no text, become spaces. */
const wholeText = (text: KnowledgeText['text']): TextToSplit => {
  if (typeof text === 'string') return { text: text.replaceAll('\0', ' '), pages: [] };
  let whole = '';
  const pages = text.map(({ number, text: page }) => {
    const start = whole.length;
    whole += `${page.replaceAll('\0', ' ').trimEnd()}\n\n`;
    return { number, start };
  });
  return { text: whole, pages };
};

/** The title of an entry that says none. */
export const UNTITLED = 'Untitled';

const rowOf = (
  { userId, sourceType, sourceId, uri, title, tags, trust }: KnowledgeText,
  of: { now: number; before: KnowledgeEntryRow | undefined; language: string | null },
): KnowledgeEntryRow => {
  const { now, before, language } = of;
  const clean = title
    .replace(/[\s\0]+/g, ' ')
    .trim()
    .slice(0, LONGEST_TITLE);
  const shown = clean === '' ? UNTITLED : clean;
  return {
    id: before?.id ?? mint('entry', now),
    user_id: userId,
    title: shown,
    folded_title: foldText(shown),
    source_type: sourceType,
    source_id: sourceId,
    uri,
    tags: JSON.stringify(tags),
    trust,
    status: 'indexing',
    chunks: 0,
    chars: 0,
    language,
    embedded_with: null,
    embedder: null,
    error: null,
    created_at: before?.created_at ?? iso(now),
    updated_at: iso(now),
  };
};

/** Builds the steps that empty an entry and give it what is new of it but its chunks. */
const replacement = (row: KnowledgeEntryRow): TransactionStep[] => [
  {
    sql: `UPDATE knowledge_entries SET title = ?, folded_title = ?, uri = ?, tags = ?, trust = ?,
        status = 'indexing', chunks = 0, chars = 0, language = ?, embedder = NULL,
        embedded_with = NULL, error = NULL, updated_at = ?
      WHERE user_id = ? AND id = ?`,
    parameters: [
      ...[row.title, row.folded_title, row.uri, row.tags, row.trust, row.language, row.updated_at],
      ...[row.user_id, row.id],
    ],
    expect: 1,
  },
  {
    sql: 'DELETE FROM knowledge_chunks WHERE user_id = ? AND entry_id = ?',
    parameters: [row.user_id, row.id],
  },
];

const insertChunks = (
  { id, userId }: { id: string; userId: string },
  chunks: SplitChunk[],
  first: number,
): TransactionStep => ({
  sql: `INSERT INTO knowledge_chunks (user_id, entry_id, number, start, text, heading, page, hash)
    SELECT ?, ?, ? + key, value ->> 'start', value ->> 'text', value ->> 'heading',
      value ->> 'page', value ->> 'hash'
    FROM json_each(?)`,
  parameters: [userId, id, first, JSON.stringify(chunks.map(hashed))],
});

const hashed = ({ start, text, heading, page }: SplitChunk) => ({
  start,
  text,
  heading,
  page,
  hash: hashOfChunk({ heading, text }),
});

/** Builds the step that removes those vectors of an entry's earlier chunks that no chunk has now. */
const removeVectors = (userId: string, hashes: string[]): TransactionStep => ({
  sql: `DELETE FROM knowledge_vectors
    WHERE user_id = ? AND hash IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
      SELECT 1 FROM knowledge_chunks AS c
      WHERE c.user_id = knowledge_vectors.user_id AND c.hash = knowledge_vectors.hash)`,
  parameters: [userId, JSON.stringify(hashes)],
});
