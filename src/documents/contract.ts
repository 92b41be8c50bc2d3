import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

/** The most bytes of one file. */
export const FILE_BYTES = 50 * 1024 * 1024;
const UPLOAD_BYTES = 500 * 1024 * 1024;
/** The most files of one upload. */
const MAX_FILES = 50;

const documentStatus = () =>
  s.oneOf('DocumentStatus', 'queued', 'processing', 'completed', 'failed', 'cancelled');
const tag = () =>
  s
    .text(60)
    .normalize('NFC')
    .pattern(/^\S(.*\S)?$/, 'a word or two');
const tags = () => s.list(tag(), 20).label('DocumentTags');
const filename = () =>
  s
    .text(255)
    .normalize('NFC')
    .pattern(/^[^/\\]*[^\s/\\.][^/\\]*$/, 'a name without slashes');
const languages = () =>
  s
    .text(100)
    .pattern(/^[a-z_]+(\+[a-z_]+)*$/, 'codes joined by +')
    .description("Languages to recognize in pictures, as Tesseract's codes joined by +: eng+deu");

const facts = {
  id: s.id('document'),
  filename: s.text(255),
  mediaType: s.text(100),
  bytes: s.whole(0, Number.MAX_SAFE_INTEGER),
  sha256: s.text(64),
  pages: s.nullable(s.whole(0, Number.MAX_SAFE_INTEGER)).description('null: not known yet'),
  language: languages(),
  status: documentStatus(),
  ocr: s
    .oneOf('DocumentOcr', 'none', 'some', 'all')
    .description('How many of its pages were recognized from a picture'),
  confidence: s
    .nullable(s.whole(0, 100))
    .description('The mean confidence of the recognized pages, in percent'),
  textChars: s.whole(0, Number.MAX_SAFE_INTEGER),
  tags: tags(),
  error: s.nullable(s.text(2000)).description('What is missing, or why nothing was read'),
  code: s
    .nullable(s.text(60))
    .description('`password_needed`, `damaged`, `too_large` or `interrupted`'),
  knowledgeId: s
    .nullable(s.id('entry'))
    .description('The entry of knowledge by which it is searched; null: none yet'),
  operationId: s.id('operation'),
  createdAt: s.time(),
  processedAt: s.nullable(s.time()),
};
export const DocumentView = s.object('Document', facts);
export type DocumentView = s.Static<typeof DocumentView>;

const pageFacts = {
  number: s.whole(1, 5000),
  chars: s.whole(0, Number.MAX_SAFE_INTEGER),
  ocr: s.flag(),
  confidence: s.nullable(s.whole(0, 100)),
};
const DocumentDetail = s.object('DocumentDetail', {
  ...facts,
  ocrText: s.anyText(1_100_000).description('The first 1,000,000 characters of its text'),
  truncated: s.flag().description('True if its text is longer'),
  pageList: s.list(s.object('DocumentPageFacts', pageFacts), 5000),
});
export type DocumentDetail = s.Static<typeof DocumentDetail>;

const DocumentPage = s.object('DocumentPage', {
  filename: facts.filename,
  pages: facts.pages,
  ...pageFacts,
  text: s.anyText(1_100_000),
});

const UploadedDocument = s.object('UploadedDocument', {
  ...facts,
  duplicate: s.flag().description('True: you have this very file already, under this id'),
});

export const documents = contract({
  upload: endpoint.post('/api/documents/upload', {
    summary: 'Upload files; their text is read afterwards',
    form: {
      files: 'files',
      mostFiles: MAX_FILES,
      fileBytes: FILE_BYTES,
      bytes: UPLOAD_BYTES,
      fields: s.object('UploadFields', {
        tags: s.optional(tags().single().example(['invoices'])),
        language: s.optional(languages().example('eng')),
        index: s.optional(
          s.queryFlag().description('Make it an entry of knowledge; true unless given'),
        ),
      }),
    },
    reply: s.object('Upload', {
      documents: s.list(UploadedDocument, MAX_FILES),
      refused: s.list(
        s.object('RefusedFile', { filename: s.anyText(1000), reason: s.text(500) }),
        MAX_FILES,
      ),
    }),
    status: 202,
  }),
  list: endpoint.get('/api/documents', {
    summary: 'List your documents, newest first',
    query: pageQuery('DocumentQuery', {
      status: s.optional(documentStatus()),
      mediaType: s.optional(s.text(100)),
      tag: s.optional(s.text(60).normalize('NFC')),
      q: s.optional(s.text(200).description('A part of the file name')),
      since: s.optional(s.moment()),
      until: s.optional(s.moment()),
    }),
    reply: pageOf('documents', DocumentView),
  }),
  get: endpoint.get('/api/documents/{id}', {
    summary: 'Show a document with its text',
    reply: DocumentDetail,
  }),
  page: endpoint.get('/api/documents/{id}/pages/{number}', {
    summary: 'Show the text of one page of a document',
    reply: DocumentPage,
  }),
  content: endpoint.get('/api/documents/{id}/content', {
    summary: 'Download the original of a document, as it was uploaded',
    produces: 'application/octet-stream',
  }),
  update: endpoint.patch('/api/documents/{id}', {
    summary: 'Rename a document, or replace its tags',
    example: { tags: ['invoices'] },
    body: s.ignoring(
      s
        .object('DocumentChanges', {
          filename: s.optional(filename()),
          tags: s.optional(tags()),
        })
        .min(1),
      ...['id', 'mediaType', 'bytes', 'sha256', 'status', 'createdAt', 'processedAt'],
    ),
    reply: DocumentView,
  }),
  reprocess: endpoint.post('/api/documents/{id}/reprocess', {
    summary: 'Read a document again, in other languages or with its password',
    example: { language: 'deu' },
    body: s.object('Reprocessing', {
      language: s.optional(languages()),
      password: s.optional(
        s.text(200).description('Opens an encrypted file; it is used once and not kept'),
      ),
    }),
    reply: DocumentView,
    status: 202,
  }),
  cancel: endpoint.post('/api/documents/{id}/cancel', {
    summary: 'Stop reading a document; the pages that were read stay',
    reply: DocumentView,
  }),
  delete: endpoint.delete('/api/documents/{id}', {
    summary: 'Delete a document with its original and its text',
  }),
});
