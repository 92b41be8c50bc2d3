import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { foldText } from '../kernel/searchwords.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { insertRow } from '../store/rows.js';
import { type KnowledgeEntryRow, knowledgeEntryTable } from '../store/tables/knowledge.js';
import { CHUNKS_PER_BATCH, type EntryText } from './procedures/batches.js';
import { type KnowledgeStore, tagSteps } from './queries.js';
import type { SearchIndex, SplitText } from './searchindex.js';

export interface KnowledgeText {
  userId: string;
  sourceType: KnowledgeEntryRow['source_type'];
  /** ID of the source. An existing entry of the same source is replaced. */
  sourceId: string | null;
  uri: string | null;
  title: string;
  tags: string[];
  /** `owner` only for text that the person wrote or confirmed. */
  trust: KnowledgeEntryRow['trust'];
  text: EntryText;
}

export interface PreparedEntry {
  id: string;
  chunks: number;
  /**
   * Transactions that write the entry, in order, each created on demand. Before the last one is
   * committed, its chunks cannot be found.
   */
  transactions: AsyncIterable<TransactionStep[]>;
}

const MAX_TITLE_LENGTH = 300;

interface EntriesDeps {
  clock: Clock;
  entries: KnowledgeStore;
  index: Pick<SearchIndex, 'split'>;
}

export const prepareEntry = async (
  { clock, entries, index }: EntriesDeps,
  input: KnowledgeText,
): Promise<PreparedEntry> => {
  const split = await index.split(input.userId, input.text);
  const { userId, sourceType, sourceId } = input;
  const before =
    sourceId === null ? undefined : await entries.ofSource(userId, sourceType, sourceId);
  const row = buildEntryRow(input, { now: clock.now(), before, language: split.language });
  const earlier = before ? await entries.hashes(userId, before.id) : [];
  const first = before ? replacement(row) : [insertRow(knowledgeEntryTable, row)];
  const last = [ofSize(row, split), ...(before ? [removeVectors(userId, earlier)] : [])];
  const transactions = async function* (): AsyncGenerator<TransactionStep[]> {
    const tags = tagSteps({ id: row.id, userId, tags: row.tags });
    const final = Math.max(0, split.batches - 1);
    for (let at = 0; at <= final; at++) {
      const chunks = at < split.batches ? [insertChunks(row, await split.batch(at), at)] : [];
      yield [...(at === 0 ? [...first, ...tags] : []), ...chunks, ...(at === final ? last : [])];
    }
  };
  return { id: row.id, chunks: split.chunks, transactions: transactions() };
};

export const UNTITLED = 'Untitled';

const buildEntryRow = (
  { userId, sourceType, sourceId, uri, title, tags, trust }: KnowledgeText,
  of: { now: number; before: KnowledgeEntryRow | undefined; language: string | null },
): KnowledgeEntryRow => {
  const { now, before, language } = of;
  const clean = title
    .normalize('NFC')
    .replace(/[\s\0]+/g, ' ')
    .trim()
    .slice(0, MAX_TITLE_LENGTH);
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

const ofSize = (
  { id, user_id }: KnowledgeEntryRow,
  { chunks, chars }: SplitText,
): TransactionStep => ({
  sql: 'UPDATE knowledge_entries SET chunks = ?, chars = ? WHERE user_id = ? AND id = ?',
  parameters: [chunks, chars, user_id, id],
  expect: 1,
});

const insertChunks = (
  { id, user_id }: KnowledgeEntryRow,
  batch: string,
  at: number,
): TransactionStep => ({
  sql: `INSERT INTO knowledge_chunks (user_id, entry_id, number, start, text, heading, page, hash)
    SELECT ?, ?, ? + key, value ->> 'start', value ->> 'text', value ->> 'heading',
      value ->> 'page', value ->> 'hash'
    FROM json_each(?)`,
  parameters: [user_id, id, at * CHUNKS_PER_BATCH, batch],
});

/** Removes vectors of earlier chunks that no chunk uses any more. */
const removeVectors = (userId: string, hashes: string[]): TransactionStep => ({
  sql: `DELETE FROM knowledge_vectors
    WHERE user_id = ? AND hash IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
      SELECT 1 FROM knowledge_chunks AS c
      WHERE c.user_id = knowledge_vectors.user_id AND c.hash = knowledge_vectors.hash)`,
  parameters: [userId, JSON.stringify(hashes)],
});
