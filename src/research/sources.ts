import type { Statement } from '../store/engine/protocol.js';
import { insertRow, selectRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import {
  type ResearchReportRow,
  type ResearchSourceRow,
  researchReportTable,
  researchSourceTable,
} from '../store/tables/research.js';
import { visibleTo } from '../store/visible.js';

export type ListedSource = Omit<ResearchSourceRow, 'text'>;

/** A web page. It never contains the user's knowledge. */
export interface ReadWebPage {
  n: number;
  url: string;
  title: string;
  text: string;
}

const LISTED_COLUMNS = [
  ...(['job_id', 'n', 'user_id', 'url', 'entry_id', 'title', 'status'] as const),
  ...(['used', 'sha256', 'error', 'retrieved_at'] as const),
];

export const researchSourcesStore = ({ db }: Store) => {
  const sourcesOf = (userId: string, jobId: string) =>
    db.selectFrom('research_sources').where(visibleTo(userId)).where('job_id', '=', jobId);

  return {
    list: (userId: string, jobId: string): Promise<ListedSource[]> =>
      sourcesOf(userId, jobId).select(LISTED_COLUMNS).orderBy('n').execute(),

    read: (userId: string, jobId: string): Promise<ResearchSourceRow[]> =>
      selectRows(db, researchSourceTable, { job_id: jobId, status: 'read' }, visibleTo(userId))
        .orderBy('n')
        .execute(),

    /** Returns only web pages. */
    readPages: async (userId: string, jobId: string): Promise<ReadWebPage[]> => {
      const rows = await sourcesOf(userId, jobId)
        .select(['n', 'url', 'title', 'text'])
        .where('status', '=', 'read')
        .where('url', 'is not', null)
        .where('entry_id', 'is', null)
        .orderBy('n')
        .execute();
      return rows.flatMap(({ n, url, title, text }) =>
        url === null || text === null ? [] : [{ n, url, title, text }],
      );
    },

    report: (userId: string, jobId: string): Promise<ResearchReportRow | undefined> =>
      db
        .selectFrom('research_jobs as j')
        .innerJoin('research_reports as r', 'r.job_id', 'j.id')
        .select(['r.job_id', 'r.draft', 'r.report'])
        .where(visibleTo(userId, 'j'))
        .where('j.id', '=', jobId)
        .executeTakeFirst(),

    insert: (row: ResearchSourceRow): Statement => insertRow(researchSourceTable, row),

    change: (jobId: string, n: number, change: Partial<ResearchSourceRow>): Statement =>
      statement(
        db
          .updateTable('research_sources')
          .set(change)
          .where('job_id', '=', jobId)
          .where('n', '=', n),
        1,
      ),

    insertDraft: (row: ResearchReportRow): Statement => insertRow(researchReportTable, row),

    setReport: (jobId: string, report: string): Statement =>
      statement(db.updateTable('research_reports').set({ report }).where('job_id', '=', jobId), 1),
  };
};

export type ResearchSourcesStore = ReturnType<typeof researchSourcesStore>;
