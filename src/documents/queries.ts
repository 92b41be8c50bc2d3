import { sql } from 'kysely';
import { contains } from '../store/contains.js';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { insertRow, selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import {
  type DocumentPageRow,
  type DocumentRow,
  documentPageTable,
  documentTable,
} from '../store/tables/documents.js';
import { visibleTo } from '../store/visible.js';
import type { ExtractedPage } from './extract/job.js';

interface DocumentFilter extends PageInput {
  status?: DocumentRow['status'];
  mediaType?: string;
  tag?: string;
  q?: string;
  since?: string;
  until?: string;
}

export type ReadFacts = Pick<
  DocumentRow,
  'pages' | 'ocr' | 'confidence' | 'text_chars' | 'error' | 'code'
>;

export type DocumentPageFacts = Omit<DocumentPageRow, 'document_id' | 'text'> & { chars: number };

const CHECKED_AT_ONCE = 500;

const createDocumentQueries = ({ db, transact }: Store) => {
  const own = (userId: string) => selectRows(db, documentTable, {}, visibleTo(userId));

  return {
    list: (
      userId: string,
      { status, mediaType, tag, q, since, until, ...page }: DocumentFilter,
    ) => {
      let found = own(userId);
      if (status !== undefined) found = found.where('status', '=', status);
      if (mediaType !== undefined) found = found.where('media_type', '=', mediaType);
      if (since !== undefined) found = found.where('created_at', '>=', since);
      if (until !== undefined) found = found.where('created_at', '<', until);
      if (tag !== undefined) {
        found = found.where(sql<boolean>`${tag} IN (SELECT value FROM json_each(tags))`);
      }
      if (q !== undefined) {
        found = found.where(contains('filename', q));
      }
      return newestFirst(found, page);
    },

    get: (userId: string, id: string): Promise<DocumentRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    withContent: (userId: string, sha256: string): Promise<DocumentRow | undefined> =>
      own(userId).where('sha256', '=', sha256).executeTakeFirst(),

    /** Fails if the document does not exist. */
    change: (
      userId: string,
      id: string,
      change: Partial<Pick<DocumentRow, 'filename' | 'tags' | 'indexed'>>,
    ): Statement =>
      statement(
        db.updateTable('documents').set(change).where(visibleTo(userId)).where('id', '=', id),
        1,
      ),

    /** Returns false if a step fails. */
    commit: (steps: TransactionStep[]): Promise<boolean> => isCommitted(transact(steps)),

    /** Deletes a document in one transaction with further steps. */
    delete: (userId: string, id: string, also: TransactionStep[]): Promise<boolean> =>
      isCommitted(
        transact([
          statement(db.deleteFrom('documents').where(visibleTo(userId)).where('id', '=', id), 1),
          ...also,
        ]),
      ),
  };
};

const createOriginalQueries = ({ db }: Store) => ({
  bytesOf: async (userId: string): Promise<number> => {
    const sum = db
      .selectFrom('documents')
      .select(({ fn }) => fn.coalesce(fn.sum<number>('bytes'), sql<number>`0`).as('bytes'))
      .where(visibleTo(userId));
    return (await sum.executeTakeFirstOrThrow()).bytes;
  },

  countAll: async (): Promise<number> => {
    const count = db.selectFrom('documents').select(({ fn }) => fn.countAll<number>().as('count'));
    return (await count.executeTakeFirstOrThrow()).count;
  },

  batchOfAll: (after: { id: string; skip: number }) =>
    db
      .selectFrom('documents')
      .select(['id', 'user_id', 'filename', 'sha256', 'bytes'])
      .where('id', '>', after.id)
      .orderBy('id')
      .limit(CHECKED_AT_ONCE)
      .offset(after.skip)
      .execute(),

  contentsOf: async (userId: string): Promise<Set<string>> => {
    const rows = await db
      .selectFrom('documents')
      .select('sha256')
      .where(visibleTo(userId))
      .execute();
    return new Set(rows.map(({ sha256 }) => sha256));
  },
});

const createPageQueries = ({ db }: Store) => {
  const ownPages = (userId: string, id: string) =>
    db
      .selectFrom('document_pages as p')
      .innerJoin('documents as d', 'd.id', 'p.document_id')
      .where(visibleTo(userId, 'd'))
      .where('d.id', '=', id);

  return {
    pages: (userId: string, id: string): Promise<DocumentPageFacts[]> =>
      ownPages(userId, id)
        .select(['p.number', 'p.ocr', 'p.confidence', sql<number>`length(p.text)`.as('chars')])
        .orderBy('p.number')
        .execute(),

    page: (userId: string, id: string, number: number) =>
      ownPages(userId, id)
        .select(['p.number', 'p.text', 'p.ocr', 'p.confidence'])
        .where('p.number', '=', number)
        .executeTakeFirst(),

    texts: (userId: string, id: string, range: { from: number; limit: number }) =>
      ownPages(userId, id)
        .select(['p.number', 'p.text'])
        .where('p.number', '>=', range.from)
        .orderBy('p.number')
        .limit(range.limit)
        .execute(),
  };
};

const createReadingQueries = ({ db }: Store) => ({
  insert: (row: DocumentRow): Statement => insertRow(documentTable, row),

  /** Queues a document again unless it is being processed. Existing text stays until then. */
  restart: (
    { user_id, id }: Pick<DocumentRow, 'user_id' | 'id'>,
    change: Pick<DocumentRow, 'operation_id' | 'language'>,
  ): Statement[] => [
    statement(
      db
        .updateTable('documents')
        .set({
          ...change,
          status: 'queued',
          error: null,
          code: null,
          processed_at: null,
        })
        .where(visibleTo(user_id))
        .where('id', '=', id)
        .where('status', 'not in', ['queued', 'processing']),
      1,
    ),
  ],

  begin: (operationId: string, id: string): Statement =>
    statement(
      db
        .updateTable('documents')
        .set({ status: 'processing' })
        .where('id', '=', id)
        .where('operation_id', '=', operationId)
        .where('status', 'in', ['queued', 'processing']),
      1,
    ),

  /** The first page replaces all text of earlier readings. */
  advance: (id: string, facts: Partial<ReadFacts>, pages: ExtractedPage[]): Statement[] => [
    statement(db.updateTable('documents').set(facts).where('id', '=', id), 1),
    ...(pages[0]?.page === 1
      ? [statement(db.deleteFrom('document_pages').where('document_id', '=', id))]
      : []),
    ...pages.map(({ page, text, ocr, confidence }) =>
      insertRow(documentPageTable, {
        document_id: id,
        number: page,
        text,
        ocr: ocr ? 1 : 0,
        confidence,
      }),
    ),
  ],

  indexedAs: (id: string, knowledge_id: string, error: string | null): Statement =>
    statement(db.updateTable('documents').set({ knowledge_id, error }).where('id', '=', id), 1),

  /** `reason` is kept unless the reading has stored one. */
  end: (
    operationId: string,
    id: string,
    { reason, ...end }: Pick<DocumentRow, 'status' | 'processed_at'> & { reason: string | null },
  ): Statement =>
    statement(
      db
        .updateTable('documents')
        .set(({ fn, ref, val }) => ({ ...end, error: fn.coalesce(ref('error'), val(reason)) }))
        .where('id', '=', id)
        .where('operation_id', '=', operationId),
    ),
});

export const documentsStore = (store: Store) =>
  Object.assign(
    createDocumentQueries(store),
    createOriginalQueries(store),
    createPageQueries(store),
    createReadingQueries(store),
  );

export type DocumentsStore = ReturnType<typeof documentsStore>;
