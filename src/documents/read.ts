import { type Clock, iso } from '../kernel/clock.js';
import type { KnowledgeTexts } from '../knowledge/module.js';
import type { OperationKind, OperationRun, Workers } from '../operations/module.js';
import type { DocumentRow } from '../store/tables/documents.js';
import { type DocumentInput, indexDocument } from './entry.js';
import type { ExtractedPage, ExtractJob } from './extract/job.js';
import {
  describeFailure,
  EXTRACT_LIMITS,
  type ExtractEnd,
  extractInWorker,
  type ProgressLine,
} from './extraction.js';
import type { Originals } from './originals.js';
import type { DocumentsStore, ReadFacts } from './queries.js';

/** Position at which reading resumes. */
interface DocumentCheckpoint {
  /** Number of stored pages. */
  page: number;
  /** Number of recognized pages, and the sum of their confidences. */
  ocr: number;
  confidence: number;
  chars: number;
}

interface DocumentReadDeps {
  clock: Clock;
  documents: DocumentsStore;
  originals: Originals;
  workers: Workers;
  addedLanguages: string;
  texts: Pick<KnowledgeTexts, 'index'>;
  passwordOf(documentId: string): string | null;
}

const READ_KIND = 'documents.read';
/** Pages and characters per transaction. */
const BATCH_PAGES = 50;
const BATCH_CHARS = 500_000;
/** Maximum time before a page is stored, in milliseconds. */
const BATCH_MS = 1000;
const NOTHING: DocumentCheckpoint = { page: 0, ocr: 0, confidence: 0, chars: 0 };
const UNIT = 'pages';

export const documentOperation = (
  deps: DocumentReadDeps,
): OperationKind<DocumentInput, DocumentCheckpoint> => ({
  kind: READ_KIND,
  isResumable: true,
  isAdmins: false,
  isHeavy: true,
  most: 10_000,
  run: (run) => readDocument(deps, run),
  ended: ({ id, input }, status) => {
    const { documentId }: DocumentInput = JSON.parse(input);
    const end = toFinalStatus(status);
    const processed_at = iso(deps.clock.now());
    const reason = end === 'failed' ? UNEXPECTED : null;
    return [deps.documents.end(id, documentId, { status: end, processed_at, reason })];
  },
});

const UNEXPECTED =
  'Reading ended unexpectedly. The operation names the reason. Reprocess the document';

const toFinalStatus = (status: string): DocumentRow['status'] => {
  if (status === 'completed' || status === 'cancelled') return status;
  return 'failed';
};

interface ReadState {
  at: DocumentCheckpoint;
  total: number | null;
  waiting: ExtractedPage[];
  storedMs: number;
}

type Run = OperationRun<DocumentInput, DocumentCheckpoint>;

const readDocument: (deps: DocumentReadDeps, run: Run) => ReturnType<OperationKind['run']> = async (
  deps,
  run,
) => {
  const { documents, originals } = deps;
  const { documentId } = run.input;
  const row = await documents.get(run.userId, documentId);
  if (!row) return { status: 'failed', error: 'The document was deleted' };
  const reading: ReadState = {
    at: run.checkpoint ?? NOTHING,
    total: row.pages,
    waiting: [],
    storedMs: performance.now(),
  };
  await run.commit([documents.begin(run.id, row.id)], buildRunState(reading));
  const path = originals.pathOf(row.user_id, row.sha256);
  const end = await extractInWorker(deps.workers, {
    userId: run.userId,
    job: buildExtractJob(deps, row, { path, fromPage: reading.at.page + 1 }),
    signal: run.signal,
    take: (line) => takeLine(deps, run, reading, line),
  });
  return finish(deps, run, reading, end);
};

const buildExtractJob = (
  { passwordOf, addedLanguages }: DocumentReadDeps,
  { id, media_type, language }: DocumentRow,
  { path, fromPage }: Pick<ExtractJob, 'path' | 'fromPage'>,
): ExtractJob => ({
  path,
  mediaType: media_type,
  languages: language.split('+'),
  addedLanguages,
  fromPage,
  password: passwordOf(id),
  limits: EXTRACT_LIMITS,
});

const takeLine = async (
  deps: DocumentReadDeps,
  run: Run,
  reading: ReadState,
  line: ProgressLine,
): Promise<void> => {
  if ('pages' in line) {
    reading.total = Math.max(line.pages, reading.at.page);
    return run.progress(buildRunState(reading).progress);
  }
  reading.waiting.push(line);
  const { at } = reading;
  reading.at = {
    page: line.page,
    ocr: at.ocr + (line.ocr ? 1 : 0),
    confidence: at.confidence + (line.confidence ?? 0),
    chars: at.chars + line.text.length,
  };
  const chars = reading.waiting.reduce((sum, { text }) => sum + text.length, 0);
  const isDue =
    reading.waiting.length >= BATCH_PAGES ||
    chars >= BATCH_CHARS ||
    performance.now() - reading.storedMs >= BATCH_MS;
  if (isDue) await storePages(deps, run, reading, { error: null, code: null });
};

const storePages = async (
  { documents }: DocumentReadDeps,
  run: Run,
  reading: ReadState,
  result: Pick<ReadFacts, 'error' | 'code'>,
): Promise<void> => {
  const { at, total, waiting } = reading;
  const facts: ReadFacts = {
    pages: total,
    ocr: at.ocr === 0 ? 'none' : at.ocr === at.page ? 'all' : 'some',
    confidence: at.ocr === 0 ? null : Math.round(at.confidence / at.ocr),
    text_chars: at.chars,
    error: result.error,
    code: result.code,
  };
  const { error, code } = facts;
  // Existing text stays until the first new page is stored.
  const known = at.page === 0 && error !== null ? { error, code } : facts;
  await run.commit(documents.advance(run.input.documentId, known, waiting), buildRunState(reading));
  reading.waiting = [];
  reading.storedMs = performance.now();
};

const finish = async (
  deps: DocumentReadDeps,
  run: Run,
  reading: ReadState,
  { failure, notes }: ExtractEnd,
): ReturnType<OperationKind['run']> => {
  if (failure === null) reading.total = reading.at.page;
  const reason = failure && describeFailure(failure);
  const error = reason ?? (notes.length > 0 ? notes.join(' ').slice(0, 2000) : null);
  await storePages(deps, run, reading, { error, code: failure?.code ?? null });
  if (failure === null) await addToKnowledge(deps, run, reading);
  return reason === null
    ? { status: 'completed', result: { pages: reading.at.page, chars: reading.at.chars } }
    : { status: 'failed', error: reason };
};

const addToKnowledge = async (
  deps: DocumentReadDeps,
  run: Run,
  reading: ReadState,
): Promise<void> => {
  const row = await deps.documents.get(run.userId, run.input.documentId);
  if (row?.indexed !== 1) return;
  const { steps } = await indexDocument(deps, { ...row, pages: reading.at.page });
  await run.commit(steps, buildRunState(reading));
};

const buildRunState = ({ at, total }: ReadState) => ({
  checkpoint: at,
  progress: { done: at.page, total, unit: UNIT, note: null },
});
