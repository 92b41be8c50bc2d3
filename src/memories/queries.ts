import { sql } from 'kysely';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import { type MemoryRow, memoryTable } from '../store/tables/memories.js';
import { visibleTo } from '../store/visible.js';

/** Limits per user: all memories, and unconfirmed ones. */
export const MAX_MEMORIES = 5000;
const MAX_UNCONFIRMED = 200;

/** A memory must contain at least one of `words`. Null for any text. */
interface MemoryFilter extends PageInput {
  words: string[] | null;
  about?: MemoryRow['about'] | undefined;
  pinned?: boolean | undefined;
  confirmed?: boolean | undefined;
}

export const memoriesStore = ({ db, transact, look }: Store) => {
  const own = (userId: string) => selectRows(db, memoryTable, {}, visibleTo(userId));

  return {
    list: (userId: string, { words, about, pinned, confirmed, ...page }: MemoryFilter) => {
      let found = own(userId);
      if (about !== undefined) found = found.where('about', '=', about);
      if (pinned !== undefined) found = found.where('pinned', '=', pinned ? 1 : 0);
      if (confirmed !== undefined) found = found.where('confirmed', '=', confirmed ? 1 : 0);
      if (words !== null) found = found.where('id', 'in', withWords(userId, words));
      return newestFirst(found, page);
    },

    get: (userId: string, id: string): Promise<MemoryRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    withText: (userId: string, text: string): Promise<MemoryRow | undefined> =>
      own(userId).where('text', '=', text).executeTakeFirst(),

    /**
     * Confirmed only if the saving agent is trusted at that moment. Returns false if a limit is
     * reached or the text exists.
     */
    insert: (
      row: MemoryRow,
      words: string[],
      { agentId }: { agentId: string | null },
    ): Promise<boolean> =>
      isCommitted(transact([insertion(row, agentId), ...buildWordStatements(row, words)])),

    /** Throws Taken if another memory has the text. */
    update: (
      userId: string,
      id: string,
      change: Partial<MemoryRow>,
      words: string[] | null,
    ): Promise<boolean> => {
      const changed = db
        .updateTable('memories')
        .set(change)
        .where(visibleTo(userId))
        .where('id', '=', id);
      const old = db.deleteFrom('memory_words').where('memory_id', '=', id);
      const renewed =
        words === null
          ? []
          : [statement(old), ...buildWordStatements({ id, user_id: userId }, words)];
      return isCommitted(transact([statement(changed, 1), ...renewed]));
    },

    delete: (userId: string, id: string): Promise<boolean> =>
      isCommitted(
        transact([
          statement(db.deleteFrom('memories').where(visibleTo(userId)).where('id', '=', id), 1),
        ]),
      ),

    /** Confirmed memories only, pinned ones first. */
    recall: (userId: string, words: string[], most: number) =>
      look('recalledMemories', { userId, words, most }),
  };
};

export type MemoriesStore = ReturnType<typeof memoriesStore>;

const withWords = (userId: string, words: string[]) =>
  sql<string>`(SELECT memory_id FROM memory_words WHERE user_id = ${userId}
    AND word IN (SELECT value FROM json_each(${JSON.stringify(words)})))`;

const insertion = (row: MemoryRow, agentId: string | null): TransactionStep => {
  const { id, user_id, text, about, pinned, created_by, confirmed } = row;
  return {
    sql: `INSERT INTO memories (id, user_id, text, about, pinned, created_by, confirmed,
        created_at, updated_at)
      SELECT ?, ?, ?, ?, ?, ?, trust.confirmed, ?, ?
      FROM (SELECT CASE WHEN ? IS NULL THEN ? ELSE
        coalesce((SELECT untrusted = 0 AND user_id NOT LIKE 'org\\_%' ESCAPE '\\'
          FROM agents WHERE id = ? AND user_id = ?), 0) END AS confirmed) AS trust
      WHERE (SELECT count(*) FROM memories WHERE user_id = ?) < ?
        AND (trust.confirmed = 1
          OR (SELECT count(*) FROM memories WHERE user_id = ? AND confirmed = 0) < ?)
        AND NOT EXISTS (SELECT 1 FROM memories WHERE user_id = ? AND text = ?)`,
    parameters: [
      ...[id, user_id, text, about, pinned ?? 0, created_by, row.created_at, row.updated_at],
      ...[agentId, confirmed, agentId, user_id],
      ...[user_id, MAX_MEMORIES, user_id, MAX_UNCONFIRMED, user_id, text],
    ],
    expect: 1,
  };
};

const buildWordStatements = (
  { id, user_id }: Pick<MemoryRow, 'id' | 'user_id'>,
  words: string[],
): TransactionStep[] => [
  {
    sql: `INSERT OR IGNORE INTO memory_words (user_id, word, memory_id)
      SELECT ?, value, ? FROM json_each(?)`,
    parameters: [user_id, id, JSON.stringify(words)],
  },
];
