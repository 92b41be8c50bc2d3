import type { Readable } from 'node:stream';
import type { Originals } from './originals.js';
import type { DocumentsStore } from './queries.js';

interface OriginalFile {
  documentId: string;
  name: string;
  mediaType: string;
  bytes: number;
}

export interface OriginalFiles {
  /** Returns null if the document does not exist or its original is missing. */
  find(userId: string, id: string): Promise<OriginalFile | null>;
  /** Returns null under the same conditions. */
  open(userId: string, id: string): Promise<Readable | null>;
}

export const createOriginalFiles = (deps: {
  documents: DocumentsStore;
  originals: Originals;
}): OriginalFiles => {
  const { documents, originals } = deps;
  return {
    find: async (userId, id) => {
      const row = await documents.get(userId, id);
      const bytes = row && (await originals.sizeOf(userId, row.sha256));
      if (!row || bytes === null || bytes === undefined) return null;
      return { documentId: id, name: row.filename, mediaType: row.media_type, bytes };
    },
    open: async (userId, id) => {
      const row = await documents.get(userId, id);
      if (!row || (await originals.sizeOf(userId, row.sha256)) === null) return null;
      return originals.open(userId, row.sha256);
    },
  };
};
