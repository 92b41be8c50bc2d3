import { sql } from 'kysely';
import { timeDigits } from '../kernel/ids.js';
import { foldText } from '../kernel/searchwords.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import {
  type KnowledgeChunkRow,
  type KnowledgeEntryRow,
  knowledgeChunkTable,
  knowledgeEntryTable,
} from '../store/tables/knowledge.js';
import { visibleTo } from '../store/visible.js';

interface EntryFilter extends PageInput {
  sourceType?: KnowledgeEntryRow['source_type'] | undefined;
  tag?: string | undefined;
  trust?: KnowledgeEntryRow['trust'] | undefined;
  q?: string | undefined;
  since?: string | undefined;
}

export interface KnowledgeSourceRef {
  type: KnowledgeEntryRow['source_type'];
  id: string;
}

export interface KnowledgeLabels {
  title: string;
  uri: string | null;
  tags: string[];
}

export interface TypeCount {
  sourceType: KnowledgeEntryRow['source_type'];
  entries: number;
  chunks: number;
  chars: number;
}

export const knowledgeStore = ({ db, transact }: Store) => {
  const own = (userId: string) => selectRows(db, knowledgeEntryTable, {}, visibleTo(userId));
  const ownChunks = (userId: string, entryId: string) =>
    selectRows(db, knowledgeChunkTable, {}, visibleTo(userId)).where('entry_id', '=', entryId);

  return {
    list: (userId: string, { sourceType, tag, trust, q, since, ...page }: EntryFilter) => {
      let found = own(userId);
      if (sourceType !== undefined) found = found.where('source_type', '=', sourceType);
      if (trust !== undefined) found = found.where('trust', '=', trust);
      if (tag !== undefined) found = found.where('id', 'in', withTag(userId, tag));
      if (q !== undefined)
        found = found.where(sql<boolean>`instr(folded_title, ${foldText(q)}) > 0`);
      // The first condition uses the index. The second is exact even if the clock was set back.
      if (since !== undefined) {
        found = found
          .where('id', '>=', `entry_${timeDigits(Date.parse(since))}`)
          .where('created_at', '>=', since);
      }
      return newestFirst(found, page);
    },

    get: (userId: string, id: string): Promise<KnowledgeEntryRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    ofSource: (
      userId: string,
      sourceType: KnowledgeEntryRow['source_type'],
      sourceId: string,
    ): Promise<KnowledgeEntryRow | undefined> =>
      own(userId)
        .where('source_type', '=', sourceType)
        .where('source_id', '=', sourceId)
        .executeTakeFirst(),

    /** Reads the chunks that begin before an offset of the whole text. */
    chunksBefore: (userId: string, id: string, place: number): Promise<KnowledgeChunkRow[]> =>
      ownChunks(userId, id).where('start', '<', place).orderBy('number').execute(),

    chunk: (userId: string, id: string, number: number): Promise<KnowledgeChunkRow | undefined> =>
      ownChunks(userId, id).where('number', '=', number).executeTakeFirst(),

    hashes: async (userId: string, id: string): Promise<string[]> => {
      const rows = db
        .selectFrom('knowledge_chunks')
        .select('hash')
        .where(visibleTo(userId))
        .where('entry_id', '=', id);
      return (await rows.execute()).flatMap(({ hash }) => (hash === null ? [] : [hash]));
    },

    counts: (userId: string): Promise<TypeCount[]> =>
      db
        .selectFrom('knowledge_entries')
        .select('source_type as sourceType')
        .select(({ fn }) => [
          fn.countAll<number>().as('entries'),
          fn.sum<number>('chunks').as('chunks'),
          fn.sum<number>('chars').as('chars'),
        ])
        .where(visibleTo(userId))
        .groupBy('source_type')
        .execute(),

    update: (userId: string, id: string, change: Partial<KnowledgeEntryRow>): Promise<boolean> => {
      const changed = db
        .updateTable('knowledge_entries')
        .set(change)
        .where(visibleTo(userId))
        .where('id', '=', id);
      const tags = change.tags === undefined ? [] : tagSteps({ id, userId, tags: change.tags });
      return isCommitted(transact([statement(changed, 1), ...tags]));
    },

    delete: (userId: string, id: string): Promise<boolean> => {
      const removed = db
        .deleteFrom('knowledge_entries')
        .where(visibleTo(userId))
        .where('id', '=', id);
      return isCommitted(transact([statement(removed, 1)]));
    },

    removal: (
      userId: string,
      sourceType: KnowledgeEntryRow['source_type'],
      sourceId: string,
    ): TransactionStep =>
      statement(
        db
          .deleteFrom('knowledge_entries')
          .where(visibleTo(userId))
          .where('source_type', '=', sourceType)
          .where('source_id', '=', sourceId),
      ),

    relabel: (
      userId: string,
      { type, id }: KnowledgeSourceRef,
      { title, uri, tags }: KnowledgeLabels,
    ): TransactionStep[] => {
      const entry = `SELECT id FROM knowledge_entries
        WHERE user_id = ? AND source_type = ? AND source_id = ?`;
      const source = [userId, type, id];
      const list = JSON.stringify(tags);
      return [
        {
          sql: `UPDATE knowledge_entries SET title = ?, folded_title = ?, uri = ?, tags = ?
            WHERE id = (${entry})`,
          parameters: [title, foldText(title), uri, list, ...source],
        },
        { sql: `DELETE FROM knowledge_tags WHERE entry_id = (${entry})`, parameters: source },
        {
          sql: `INSERT INTO knowledge_tags (user_id, tag, entry_id)
            SELECT ?, tag.value, e.id FROM json_each(?) AS tag, (${entry}) AS e`,
          parameters: [userId, list, ...source],
        },
      ];
    },

    settle: (
      userId: string,
      id: string,
      { status, error }: Pick<KnowledgeEntryRow, 'status' | 'error'>,
    ): TransactionStep =>
      statement(
        db
          .updateTable('knowledge_entries')
          .set({ status, error })
          .where(visibleTo(userId))
          .where('id', '=', id)
          .where('status', '=', 'indexing'),
      ),
  };
};

export type KnowledgeStore = ReturnType<typeof knowledgeStore>;

export const tagSteps = ({
  id,
  userId,
  tags,
}: {
  id: string;
  userId: string;
  tags: string;
}): TransactionStep[] => [
  { sql: 'DELETE FROM knowledge_tags WHERE entry_id = ?', parameters: [id] },
  {
    sql: `INSERT INTO knowledge_tags (user_id, tag, entry_id)
      SELECT ?, value, ? FROM json_each(?)`,
    parameters: [userId, id, tags],
  },
];

const withTag = (userId: string, tag: string) =>
  sql<string>`(SELECT entry_id FROM knowledge_tags WHERE user_id = ${userId} AND tag = ${tag})`;
