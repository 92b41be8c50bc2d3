import type { Readable } from 'node:stream';
import Boom from '@hapi/boom';
import type { Operations } from '../operations/module.js';
import type { DocumentRow } from '../store/tables/documents.js';
import {
  type RejectedFile,
  sanitizeFileName,
  type UploadDeps,
  uploadFile,
  uploadRejection,
} from './upload.js';

interface ReceivedFile {
  /** Name chosen by the sender. */
  filename: string;
  content: Readable;
}

interface KeptFile {
  name: string;
  id: string;
  isKnown: boolean;
}

export type IntakeResult =
  | KeptFile
  /** The file was not stored. The reason completes a sentence that starts with its name. */
  | { name: string; reason: string };

export type DocumentState = Pick<DocumentRow, 'status' | 'pages' | 'error'>;

export interface DocumentIntake {
  /**
   * Stores a file as a document, once per content, and queues its processing. Throws the errors of
   * the content stream.
   */
  keep(userId: string, file: ReceivedFile): Promise<IntakeResult>;
  /** Throws an HTTP error if the file is not stored. */
  keepOrThrow(userId: string, file: ReceivedFile): Promise<KeptFile>;
  /** Waits at most `waitMs`. Resolves to null if the document was deleted. */
  whenRead(
    userId: string,
    id: string,
    wait: { waitMs: number; signal: AbortSignal },
  ): Promise<DocumentState | null>;
}

type ArrivalsDeps = UploadDeps & { operations: Pick<Operations, 'ended'> };

export const createDocumentIntake = (deps: ArrivalsDeps): DocumentIntake => ({
  keep: async (userId, file) => {
    try {
      const result = await upload(deps, userId, file);
      return 'reason' in result ? { name: result.name, reason: result.reason } : result;
    } catch (error) {
      if (!Boom.isBoom(error)) throw error;
      return {
        name: sanitizeFileName(file.filename),
        reason: `cannot be stored: ${error.message}`,
      };
    }
  },
  keepOrThrow: async (userId, file) => {
    const result = await upload(deps, userId, file);
    if ('reason' in result) throw uploadRejection([result]);
    return result;
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
): Promise<KeptFile | RejectedFile> => {
  const result = await uploadFile(deps, userId, { filename, content, isCut: () => false });
  if ('reason' in result) return result;
  return { name: result.row.filename, id: result.row.id, isKnown: result.duplicate };
};
