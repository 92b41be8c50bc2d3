import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import type { Operations } from '../operations/module.js';
import type { DocumentRow } from '../store/tables/documents.js';
import { nameOf, nothingKept, type RefusedFile, type UploadDeps, uploadFile } from './upload.js';

/** A file that another module receives for a user. */
interface ReceivedFile {
  /** The name that its sender gives it. */
  filename: string;
  content: Readable;
}

/** A document that came of a file; `isKnown` says that the user had that very file already. */
interface KeptFile {
  name: string;
  id: string;
  isKnown: boolean;
}

/** The document that a file became, or why there is none. */
export type DocumentOfFile =
  | KeptFile
  /** The file is not kept. The reason is in words that follow its name. */
  | { name: string; reason: string };

/** The state of a document, as far as its sender is told. */
export type DocumentState = Pick<DocumentRow, 'status' | 'pages' | 'error'>;

/** Files that reach the daemon in other ways than by an upload. */
export interface Arrivals {
  /**
   * Keeps a file as a document of the user, once for each content, and queues its reading. Throws
   * what its content throws.
   */
  keep(userId: string, file: ReceivedFile): Promise<DocumentOfFile>;
  /** Keeps a file as `keep` does. Throws an HTTP error if it is not kept. */
  keepOrThrow(userId: string, file: ReceivedFile): Promise<KeptFile>;
  /** Waits until a document was read, at most `waitMs`; null if there is none any more. */
  whenRead(
    userId: string,
    id: string,
    wait: { waitMs: number; signal: AbortSignal },
  ): Promise<DocumentState | null>;
}

type ArrivalsDeps = UploadDeps & { operations: Pick<Operations, 'ended'> };

export const createArrivals = (deps: ArrivalsDeps): Arrivals => ({
  keep: async (userId, file) => {
    try {
      const kept = await upload(deps, userId, file);
      return 'reason' in kept ? { name: kept.name, reason: kept.reason } : kept;
    } catch (error) {
      if (!Boom.isBoom(error)) throw error;
      return { name: nameOf(file.filename), reason: `cannot be stored: ${error.message}` };
    }
  },
  keepOrThrow: async (userId, file) => {
    const kept = await upload(deps, userId, file);
    if ('reason' in kept) throw nothingKept([kept]);
    return kept;
  },
  whenRead: async (userId, id, { waitMs, signal }) => {
    const row = await deps.documents.get(userId, id);
    if (!row) return null;
    await deps.operations.ended(userId, row.operation_id, { waitMs, signal });
    return (await deps.documents.get(userId, id)) ?? null;
  },
});

const upload = async (
  deps: UploadDeps,
  userId: string,
  { filename, content }: ReceivedFile,
): Promise<KeptFile | RefusedFile> => {
  const kept = await uploadFile(deps, userId, { filename, content, isCut: () => false });
  if ('reason' in kept) return kept;
  return { name: kept.row.filename, id: kept.row.id, isKnown: kept.duplicate };
};
