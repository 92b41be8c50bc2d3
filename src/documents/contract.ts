import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const FILE_BYTES = 50 * 1024 * 1024;
const UPLOAD_BYTES = 500 * 1024 * 1024;
const MAX_FILES = 50;

const documentStatus = () =>
  s.oneOf('DocumentStatus', 'queued', 'processing', 'completed', 'failed', 'cancelled');
const tag = () =>
  s
    .text(60)
    .normalize('NFC')
    .pattern(/^\S(.*\S)?$/, 'no leading or trailing space');
const tags = () => s.list(tag(), 20).label('DocumentTags');
const filename = () =>
  s
    .text(255)
    .normalize('NFC')
    .pattern(/^[^/\\]*[^\s/\\.][^/\\]*$/, 'file name without slashes');
const languages = () =>
  s
    .text(100)
    .pattern(/^[a-z_]+(\+[a-z_]+)*$/, 'language codes joined by +')
    .description(
      'Languages for text recognition (OCR), as Tesseract codes joined by `+`, such as `eng+deu`',
    );

const facts = {
  id: s.id('document'),
  orgId: s.orgId(),
  filename: s.text(255),
  mediaType: s.text(100),
  bytes: s.integer(0, Number.MAX_SAFE_INTEGER).description('Size of the file, in bytes'),
  sha256: s.text(64),
  pages: s
    .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
    .description('Number of pages. `null` until the number is known'),
  language: languages(),
  status: documentStatus(),
  ocr: s
    .oneOf('DocumentOcr', 'none', 'some', 'all')
    .description('Pages whose text was recognized in an image (OCR): none, some or all'),
  confidence: s
    .nullable(s.integer(0, 100))
    .description(
      'Average confidence of the recognized pages, in percent. `null` if no page was recognized',
    ),
  textChars: s.integer(0, Number.MAX_SAFE_INTEGER).description('Length of the text, in characters'),
  tags: tags(),
  error: s
    .nullable(s.text(2000))
    .description(
      'Reason why reading failed or parts of the text are missing. `null` if the text is complete',
    ),
  code: s
    .nullable(s.text(60))
    .description(
      'Error code: `password_needed`, `damaged`, `too_large` or `unsupported`. `null` for other errors and without an error',
    ),
  knowledgeId: s
    .nullable(s.id('entry'))
    .description(
      'ID of the knowledge entry with the text of the document. `null` if there is none',
    ),
  operationId: s.id('operation').description('ID of the operation that reads the document'),
  createdAt: s.time(),
  processedAt: s
    .nullable(s.time())
    .description('End of the processing. `null` while the document is queued or being processed'),
};
export const DocumentView = s.object('Document', facts);
export type DocumentView = s.Static<typeof DocumentView>;

const pageFacts = {
  number: s.integer(1, 5000).description('Page number, from 1'),
  chars: s.integer(0, Number.MAX_SAFE_INTEGER).description('Length of the text, in characters'),
  ocr: s.boolean().description('Whether the text was recognized in an image (OCR)'),
  confidence: s
    .nullable(s.integer(0, 100))
    .description('Confidence of the recognition, in percent. `null` without OCR'),
};
const DocumentDetail = s.object('DocumentDetail', {
  ...facts,
  ocrText: s
    .anyText(1_100_000)
    .description('First 1,000,000 characters of the text, with or without OCR'),
  truncated: s.boolean().description('Whether the text is longer than `ocrText`'),
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
  duplicate: s
    .boolean()
    .description(
      'Whether the upload duplicates an existing document. If true, `id` is the ID of the existing document',
    ),
});

export const documents = contract({
  upload: endpoint.post('/api/documents/upload', {
    shared: 'admin',
    summary: 'Upload documents',
    form: {
      files: 'files',
      mostFiles: MAX_FILES,
      fileBytes: FILE_BYTES,
      bytes: UPLOAD_BYTES,
      fields: s.object('UploadFields', {
        tags: s.optional(tags().single().example(['invoices'])),
        language: s.optional(languages().example('eng')),
        index: s.optional(
          s.queryFlag().description('Whether to add the text to your knowledge. Defaults to true'),
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
    shared: 'member',
    summary: 'List documents',
    query: pageQuery('DocumentQuery', {
      status: s.optional(documentStatus()),
      mediaType: s.optional(s.text(100)),
      tag: s.optional(s.text(60).normalize('NFC')),
      q: s.optional(s.text(200).description('Part of the file name')),
      since: s.optional(s.moment().description('Start of the upload time range, inclusive')),
      until: s.optional(s.moment().description('End of the upload time range, exclusive')),
    }),
    reply: createPageSchema('documents', DocumentView),
  }),
  get: endpoint.get('/api/documents/{id}', {
    shared: 'member',
    summary: 'Get a document with its text',
    reply: DocumentDetail,
  }),
  page: endpoint.get('/api/documents/{id}/pages/{number}', {
    shared: 'member',
    summary: 'Get a page of a document',
    reply: DocumentPage,
  }),
  content: endpoint.get('/api/documents/{id}/content', {
    shared: 'member',
    summary: 'Download the original file of a document',
    produces: 'application/octet-stream',
  }),
  update: endpoint.patch('/api/documents/{id}', {
    shared: 'admin',
    summary: 'Update a document',
    example: { tags: ['invoices'] },
    body: s.ignoreReadOnly(
      s
        .object('DocumentChanges', {
          filename: s.optional(filename()),
          tags: s.optional(tags()),
        })
        .min(1),
      ...['id', 'orgId', 'mediaType', 'bytes', 'sha256', 'status', 'createdAt', 'processedAt'],
    ),
    reply: DocumentView,
  }),
  reprocess: endpoint.post('/api/documents/{id}/reprocess', {
    shared: 'admin',
    summary: 'Reprocess a document',
    example: { language: 'deu' },
    body: s.object('Reprocessing', {
      language: s.optional(languages()),
      password: s.optional(
        s
          .text(200)
          .description(
            'Password of an encrypted PDF file. The password is used once and not stored',
          ),
      ),
    }),
    reply: DocumentView,
    status: 202,
  }),
  cancel: endpoint.post('/api/documents/{id}/cancel', {
    shared: 'admin',
    summary: 'Cancel the processing of a document',
    reply: DocumentView,
  }),
  delete: endpoint.delete('/api/documents/{id}', {
    shared: 'admin',
    summary: 'Delete a document',
    description:
      'Processing that has not ended is cancelled first. The text is deleted from your knowledge as well.',
  }),
});
