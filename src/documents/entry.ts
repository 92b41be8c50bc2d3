import Boom from '@hapi/boom';
import type { Operation } from '../kernel/contract/operation.js';
import { orNotFound } from '../kernel/route.js';
import type { KnowledgeTexts } from '../knowledge/module.js';
import type { OperationBeginner, OperationKind } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { DocumentRow } from '../store/tables/documents.js';
import type { DocumentsStore } from './queries.js';

interface EntryDeps {
  documents: DocumentsStore;
  texts: Pick<KnowledgeTexts, 'index'>;
}

export const MAX_SEARCHABLE = 10_000_000;
const PAGES_AT_ONCE = 20;

/** Sentences that an earlier indexing has added, also in the wording of earlier versions. */
const INDEXING_NOTE =
  /((It|The document) cannot be searched: .*|Only (its|the) first \d+ pages can be searched\.)$/s;

/** Throws 409 if the document has no text. */
export const beginDocumentEntry = async (
  { documents, entries }: { documents: DocumentsStore; entries: OperationBeginner<DocumentInput> },
  userId: string,
  { documentId, tags }: { documentId: string; tags: string[] | null },
): Promise<Operation> => {
  const row = orNotFound(await documents.get(userId, documentId), 'No document with that id');
  if (row.status === 'queued' || row.status === 'processing') {
    throw Boom.conflict(
      'The document is being processed. Wait until processing has ended, then index the document',
    );
  }
  if (row.text_chars === 0)
    throw Boom.conflict(
      'The document has no text to index. Reprocess the document if it is a scan',
    );
  const change = { indexed: 1, ...(tags !== null && { tags: JSON.stringify(tags) }) };
  return entries.begin(
    {
      userId,
      resource: { kind: 'document', id: documentId },
      title: `Indexing of ${row.filename}`.slice(0, 200),
      input: { documentId },
      progress: { total: 1, unit: 'documents' },
    },
    [documents.change(userId, documentId, change)],
  );
};

/**
 * Adds a document to the knowledge again: one that was not indexed, whose entry was deleted, or
 * whose indexing failed.
 */
export const entryOperation = (deps: EntryDeps): OperationKind<DocumentInput, null> => ({
  kind: 'documents.index',
  isResumable: true,
  isAdmins: false,
  run: async ({ userId, input, commit }) => {
    const row = await deps.documents.get(userId, input.documentId);
    if (!row) return { status: 'failed', error: 'The document was deleted' };
    const { entryId, fault, steps } = await indexDocument(deps, row);
    const progress = { done: 1, total: 1, unit: 'documents', note: null };
    await commit(steps, { checkpoint: null, progress });
    if (fault !== null) return { status: 'failed', error: fault };
    return { status: 'completed', result: { entryId } };
  },
});

export const indexDocument = async (
  { documents, texts }: EntryDeps,
  row: DocumentRow,
): Promise<{ entryId: string; fault: string | null; steps: TransactionStep[] }> => {
  const text = await searchableText(documents, row);
  const { id: entryId, error } = await texts.index({
    userId: row.user_id,
    sourceType: 'document',
    sourceId: row.id,
    uri: null,
    title: row.filename,
    tags: JSON.parse(row.tags),
    trust: 'outside',
    text,
  });
  const last = text.at(-1)?.number ?? 0;
  const cut = last < (row.pages ?? 0) ? `Only the first ${last} pages can be searched.` : null;
  const fault = error === null ? null : `The document cannot be searched: ${error}`;
  const earlier = row.error?.replace(INDEXING_NOTE, '').trim();
  const notes = [earlier, fault ?? cut].filter(Boolean).join(' ') || null;
  return { entryId, fault, steps: [documents.indexedAs(row.id, entryId, notes)] };
};

/** Returns the first pages, up to the memory limit. */
const searchableText = async (
  documents: DocumentsStore,
  { user_id, id }: DocumentRow,
): Promise<{ number: number; text: string }[]> => {
  const pages: { number: number; text: string }[] = [];
  let chars = 0;
  for (let isLeft = true; isLeft; ) {
    const some = await documents.texts(user_id, id, {
      from: pages.length + 1,
      limit: PAGES_AT_ONCE,
    });
    for (const page of some) {
      if (chars + page.text.length > MAX_SEARCHABLE) return pages;
      chars += page.text.length;
      pages.push(page);
    }
    isLeft = some.length === PAGES_AT_ONCE;
  }
  return pages;
};

export interface DocumentInput {
  documentId: string;
}
