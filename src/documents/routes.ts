import Boom from '@hapi/boom';
import { CustomReply, FileReply } from '../kernel/contract/endpoint.js';
import { orNotFound, resource } from '../kernel/route.js';
import type { KnowledgeTexts } from '../knowledge/module.js';
import { ExpectationFailed } from '../store/engine/protocol.js';
import { type DocumentRow, documentTable } from '../store/tables/documents.js';
import { viewer } from '../store/view.js';
import { type DocumentDetail, DocumentView, documents } from './contract.js';
import type { DocumentPageFacts } from './queries.js';
import {
  requeueDocument,
  resolveLanguage,
  sanitizeFileName,
  type UploadDeps,
  uploadFiles,
} from './upload.js';

export interface DocumentsDeps extends UploadDeps {
  texts: Pick<KnowledgeTexts, 'removal' | 'relabel' | 'changed'>;
  /** Password for the next reading. */
  setPassword(documentId: string, password: string | null): void;
}

const MAX_UPLOADS = 4;
const RETRY_AFTER_S = 5;
const DETAIL_CHARS = 1_000_000;

const view = viewer(documentTable, DocumentView, {});

export const documentsResource = (deps: DocumentsDeps) => {
  const { documents: rows, originals, reads, texts, setPassword } = deps;
  const uploading = new Map<string, number>();

  const find = async (userId: string, id: string): Promise<DocumentRow> =>
    orNotFound(await rows.get(userId, id), 'No document with that id');

  return resource('documents', documents, {
    upload: async ({ form }, { userId }) => {
      const others = uploading.get(userId) ?? 0;
      if (others >= MAX_UPLOADS) throw busy();
      uploading.set(userId, others + 1);
      try {
        const upload = await uploadFiles(deps, userId, form);
        return {
          documents: upload.documents.map(({ row, duplicate }) => ({ ...view(row), duplicate })),
          refused: upload.refused,
        };
      } finally {
        uploading.set(userId, (uploading.get(userId) ?? 1) - 1);
      }
    },
    list: async ({ query }, { userId }) => {
      const page = await rows.list(userId, query);
      return { documents: page.rows.map(view), nextCursor: page.nextCursor };
    },
    get: async ({ id }, { userId }) => loadDocumentDetail(rows, await find(userId, id)),
    page: async ({ id, number }, { userId }) => {
      const { filename, pages } = view(await find(userId, id));
      const index = /^[1-9]\d{0,5}$/.test(number) ? Number(number) : 0;
      const { text, ...facts } = orNotFound(
        await rows.page(userId, id, index),
        'The page does not exist or has not been read yet',
      );
      return { filename, pages, ...viewFacts({ ...facts, chars: text.length }), text };
    },
    content: async ({ id }, { userId }) => {
      const { sha256, filename, media_type } = await find(userId, id);
      const size = await originals.sizeOf(userId, sha256);
      if (size === null) {
        throw Boom.notFound(
          'The original file is missing from the data folder. Upload the document again',
          {
            code: 'original_missing',
          },
        );
      }
      return new FileReply(originals.open(userId, sha256), {
        'content-type': media_type,
        'content-length': String(size),
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
        'content-security-policy': 'sandbox',
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-store',
      });
    },
    update: async ({ id, body: { filename, tags } }, { userId }) => {
      const before = await find(userId, id);
      const name = filename === undefined ? before.filename : sanitizeFileName(filename);
      const labels = tags === undefined ? JSON.parse(before.tags) : [...new Set(tags)];
      await rows.commit([
        rows.change(userId, id, { filename: name, tags: JSON.stringify(labels) }),
        ...texts.relabel(
          userId,
          { type: 'document', id },
          { title: name, uri: null, tags: labels },
        ),
      ]);
      texts.changed();
      return view(await find(userId, id));
    },
    reprocess: async ({ id, body: { language, password } }, { userId }) => {
      const row = await find(userId, id);
      const languages =
        language === undefined
          ? row.language
          : await resolveLanguage(language, deps.addedLanguages);
      setPassword(id, password ?? null);
      try {
        return new CustomReply(202, view(await requeueDocument(deps, row, languages)));
      } catch (error) {
        setPassword(id, null);
        throw error instanceof ExpectationFailed
          ? Boom.conflict(
              'The document is already being processed. Wait until processing has ended',
            )
          : error;
      }
    },
    cancel: async ({ id }, { userId }) => {
      const { operation_id, status } = await find(userId, id);
      if (status !== 'queued' && status !== 'processing') {
        throw Boom.conflict(`The document is not being processed. Its status is ${status}`);
      }
      await reads.cancel(userId, operation_id);
      return view(await find(userId, id));
    },
    delete: async ({ id }, { userId }) => {
      await originals.inTurn(userId, async () => {
        const { operation_id, sha256, status } = await find(userId, id);
        if (status === 'queued' || status === 'processing') {
          await reads.cancel(userId, operation_id).catch(orEnded);
        }
        await rows.delete(userId, id, [texts.removal(userId, 'document', id)]);
        texts.changed();
        await originals.remove(userId, sha256);
      });
    },
  });
};

const orEnded = (error: unknown): void => {
  if (!Boom.isBoom(error, 409)) throw error;
};

const busy = (): Boom.Boom =>
  Boom.tooManyRequests(
    `You already have ${MAX_UPLOADS} uploads in progress. Wait until one has ended`,
    {
      code: 'uploads_busy',
      retryAfter: RETRY_AFTER_S,
    },
  );

const loadDocumentDetail = async (
  rows: DocumentsDeps['documents'],
  row: DocumentRow,
): Promise<DocumentDetail> => {
  const pages = await rows.pages(row.user_id, row.id);
  // Loads only the pages that are shown, because a long document does not fit into memory.
  let limit = 0;
  for (let chars = 0; limit < pages.length && chars <= DETAIL_CHARS; limit++) {
    chars += pages[limit]?.chars ?? 0;
  }
  const shown = await rows.texts(row.user_id, row.id, { from: 1, limit });
  const text = shown.map((page) => page.text).join('\n\n');
  return {
    ...view(row),
    ocrText: text.slice(0, DETAIL_CHARS),
    truncated: text.length > DETAIL_CHARS || limit < pages.length,
    pageList: pages.map(viewFacts),
  };
};

const viewFacts = ({ number, chars, ocr, confidence }: DocumentPageFacts) => ({
  number,
  chars,
  ocr: ocr === 1,
  confidence,
});
