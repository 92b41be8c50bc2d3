import type { Readable } from 'node:stream';
import type { Originals } from './originals.js';
import type { DocumentsStore } from './queries.js';

/** A document as it goes elsewhere, such as into an e-mail. */
interface OriginalFile {
  documentId: string;
  name: string;
  mediaType: string;
  bytes: number;
}

/** The originals of documents, for what sends them on. */
export interface OriginalFiles {
  /** Returns what a document of a user is; null if there is none, or its original is missing. */
  find(userId: string, id: string): Promise<OriginalFile | null>;
  /** Opens the original; null under the same conditions. */
  open(userId: string, id: string): Promise<Readable | null>;
}

/** Creates the way to the originals. */
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
