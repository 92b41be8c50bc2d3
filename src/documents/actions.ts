import type { ReadPage } from '../providers/pages/pageworker.js';
import type { DocumentRow } from '../store/tables/documents.js';
import type { DocumentsStore } from './queries.js';

export interface FoundDocument {
  id: string;
  filename: string;
  mediaType: string;
  status: DocumentRow['status'];
  pages: number | null;
  tags: string[];
}

export interface DocumentActions {
  /** Reads any web page, including files. */
  readPage: ReadPage;
  /** Lists the newest documents. `q` filters by name. */
  list(
    userId: string,
    filter: { q?: string; tag?: string; limit: number },
  ): Promise<FoundDocument[]>;
  /** Returns null if the document does not exist. */
  read(
    userId: string,
    id: string,
    range: { from: number; limit: number },
  ): Promise<{ document: FoundDocument; pages: { number: number; text: string }[] } | null>;
}

interface DocumentActionsDeps {
  documents: DocumentsStore;
  readPage: ReadPage;
}

export const documentActions = ({ documents, readPage }: DocumentActionsDeps): DocumentActions => ({
  readPage,
  list: async (userId, filter) => (await documents.list(userId, filter)).rows.map(found),
  read: async (userId, id, range) => {
    const row = await documents.get(userId, id);
    if (!row) return null;
    return { document: found(row), pages: await documents.texts(userId, id, range) };
  },
});

const found = ({ id, filename, media_type, status, pages, tags }: DocumentRow): FoundDocument => ({
  id,
  filename,
  mediaType: media_type,
  status,
  pages,
  tags: JSON.parse(tags),
});
