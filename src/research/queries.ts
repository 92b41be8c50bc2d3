import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import { insertRow, selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import { type ResearchJobRow, researchJobTable } from '../store/tables/research.js';
import { visibleTo } from '../store/visible.js';

const ENDED = ['completed', 'failed', 'cancelled'] as const;

export const researchStore = ({ db, transact }: Store) => {
  const own = (userId: string) => selectRows(db, researchJobTable, {}, visibleTo(userId));
  const open = (id: string) =>
    db.updateTable('research_jobs').where('id', '=', id).where('status', 'not in', ENDED);

  return {
    list: (
      userId: string,
      { status, ...page }: PageInput & { status?: ResearchJobRow['status'] | undefined },
    ): Promise<Page<ResearchJobRow>> =>
      newestFirst(selectRows(db, researchJobTable, { status }, visibleTo(userId)), page),

    get: (userId: string, id: string): Promise<ResearchJobRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    ofEffect: (userId: string, effectId: string): Promise<ResearchJobRow | undefined> =>
      own(userId).where('effect_id', '=', effectId).executeTakeFirst(),

    insert: (row: ResearchJobRow): Statement => insertRow(researchJobTable, row),

    change: (id: string, change: Partial<ResearchJobRow>): Statement =>
      statement(open(id).set(change), 1),

    /** Keeps an existing error. */
    end: (
      id: string,
      { status, error, at }: { status: ResearchJobRow['status']; error: string | null; at: string },
    ): Statement => ({
      sql: `UPDATE research_jobs SET status = ?, error = coalesce(error, ?), finished_at = ?
        WHERE id = ? AND status NOT IN ('completed', 'failed', 'cancelled')`,
      parameters: [status, error, at, id],
    }),

    /** Removes the entry of a report whose indexing was interrupted. */
    dropEntry: (userId: string, id: string): Statement => ({
      sql: `DELETE FROM knowledge_entries
        WHERE user_id = ? AND source_type = 'research' AND source_id = ? AND NOT EXISTS
          (SELECT 1 FROM research_jobs AS j WHERE j.id = ? AND j.knowledge_id IS NOT NULL)`,
      parameters: [userId, id, id],
    }),

    delete: (userId: string, id: string, also: TransactionStep[]): Promise<boolean> =>
      isCommitted(
        transact([
          statement(
            db.deleteFrom('research_jobs').where(visibleTo(userId)).where('id', '=', id),
            1,
          ),
          ...also,
        ]),
      ),
  };
};

export type ResearchStore = ReturnType<typeof researchStore>;
