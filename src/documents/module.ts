import { join } from 'node:path';
import type { Base } from '../base.js';
import type { Resource } from '../kernel/route.js';
import type { Knowledge } from '../knowledge/module.js';
import { type Operations, openWorkers } from '../operations/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { ReadPage } from '../providers/pages/pageworker.js';
import { type DocumentActions, documentActions } from './actions.js';
import { checkOriginals, type OriginalsReport } from './check.js';
import { beginDocumentEntry, entryOperation } from './entry.js';
import { shippedLanguages } from './extract/languages.js';
import { createReadPage } from './filepages.js';
import { createDocumentIntake, type DocumentIntake } from './intake.js';
import { createOriginalFiles, type OriginalFiles } from './originalfile.js';
import { createOriginals } from './originals.js';
import { documentsStore } from './queries.js';
import { documentOperation } from './read.js';
import { documentsResource } from './routes.js';
import { createServerFiles, type ServerFiles } from './serverfiles.js';
import { sweepOriginals } from './sweep.js';

export type { DocumentActions } from './actions.js';
export type { OriginalsReport } from './check.js';
export { FILE_BYTES } from './contract.js';
export type { DocumentIntake, DocumentState, IntakeResult } from './intake.js';
export type { OriginalFiles } from './originalfile.js';
export {
  FileTooLarge,
  READER_VERSION,
  type ServerFileCopy,
  type ServerFiles,
} from './serverfiles.js';

export interface DocumentsOptions {
  knowledge: Pick<Knowledge, 'texts' | 'handle'>;
  operations: Operations;
  confinement: Confinement | null;
  /** Number of processes that read at the same time. 0 means one less than the number of cores. */
  workers: number;
  /** Maximum size of a user's originals, in GiB. 0 means no limit. */
  documentsGib: number;
}

export interface Documents {
  /** Moves the files of all documents of a user. */
  moveFiles(from: string, to: string): Promise<void>;
  removeFiles(userId: string): Promise<void>;
  actions: DocumentActions;
  readPage: ReadPage;
  serverFiles: ServerFiles;
  /** Stores files that arrive in other ways than by upload. */
  arrivals: DocumentIntake;
  originals: OriginalFiles;
  /** Tesseract codes of the languages that are installed with the daemon. */
  shippedLanguages(): Promise<string[]>;
  /** Compares originals with their hashes for a limited time, in milliseconds. */
  check(budgetMs: number): Promise<OriginalsReport>;
  /** Removes leftovers of an interrupted start. Runs before operations start. */
  start(): Promise<void>;
  resources(): Resource[];
}

const GIB = 1024 ** 3;

export const openDocuments = (
  { store, clock, home }: Base,
  { knowledge, operations, confinement, workers, documentsGib }: DocumentsOptions,
): Documents => {
  const { texts } = knowledge;
  const scratch = join(home, 'scratch');
  const addedLanguages = join(home, 'capabilities');
  const documents = documentsStore(store);
  const originals = createOriginals(home, scratch);
  // Used once and never stored.
  const passwords = new Map<string, string>();
  const pool = openWorkers({ folder: scratch, confinement, atOnce: workers });
  const reads = operations.register(
    documentOperation({
      clock,
      documents,
      originals,
      texts,
      workers: pool,
      addedLanguages,
      passwordOf: (id) => {
        const password = passwords.get(id) ?? null;
        passwords.delete(id);
        return password;
      },
    }),
  );
  const entries = operations.register(entryOperation({ documents, texts }));
  knowledge.handle({
    document: (userId, of) => beginDocumentEntry({ documents, entries }, userId, of),
  });
  const readPage = createReadPage({ workers: pool, originals });
  const quotaBytes = documentsGib === 0 ? null : documentsGib * GIB;
  const uploads = { clock, documents, originals, reads, quotaBytes, addedLanguages };
  return {
    moveFiles: originals.move,
    removeFiles: originals.removeFolder,
    actions: documentActions({ documents, readPage }),
    readPage,
    serverFiles: createServerFiles({ workers: pool, originals }),
    arrivals: createDocumentIntake({ ...uploads, operations }),
    originals: createOriginalFiles({ documents, originals }),
    check: (budgetMs) => checkOriginals({ documents, originals }, budgetMs),
    shippedLanguages,
    start: async () => {
      await originals.clear();
      await sweepOriginals(documents, originals);
    },
    resources: () => [
      documentsResource({
        ...uploads,
        texts,
        setPassword: (id, password) => {
          if (password === null) passwords.delete(id);
          else passwords.set(id, password);
        },
      }),
    ],
  };
};
