import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '../../src/client/errors.js';
import type { Client, DocumentView } from '../../src/client/index.js';
import { uploadDocuments } from '../../src/client/upload.js';
import { columnsOf } from '../columns.js';
import { type Context, command, textFlag } from '../command.js';
import { Exit } from '../exit.js';
import { noWait } from '../operations/follow.js';
import { withProgress } from '../progress.js';
import { countOf, safe } from '../text.js';
import { batchesOf, filesAt, readFiles } from './files.js';

/** The columns of documents in lists. */
export const documentColumns = columnsOf<DocumentView>(
  ['id:data', 'short=id:tail', 'name=filename', 'status:state', 'pages', 'bytes:data', 'tags'],
  ['mediaType:data', 'ocr:data', 'confidence:data', 'textChars:data', 'language:data'],
  ['error:data', 'code:data', 'sha256:data', 'operationId:data', 'created=createdAt:ago'],
);

const OVER = ['completed', 'failed', 'cancelled'];
const WAIT_SECONDS = 20;

interface UploadFlags {
  tag?: string;
  language?: string;
  noWait?: boolean;
}

/** The command that uploads a file, or all files of a folder. */
export const uploadCommand = command({
  name: 'upload',
  args: '<path>',
  summary: 'Upload a file, or all files of a folder, and wait until they are read',
  calls: ['documents upload', 'documents get', 'operations get'],
  examples: ['letter.pdf', 'scans/ --tag invoices --language deu', 'mail.eml --no-wait --json'],
  flags: {
    tag: textFlag('<tags>', 'Words to find them by, separated by commas'),
    language: textFlag('<codes>', 'Languages of pictures of text, as eng+deu; eng unless given'),
    noWait,
  },
  notes: [
    'Hidden files are left out. A file that you have already is not kept twice.',
    'Exit 1 where a file was refused, or could not be read.',
  ],
  seeAlso: 'adjutant documents text, for what was read',
  run: (context, { args: { path }, flags }) => uploadPath(context, path, flags),
});

/** Uploads a file, or all files of a folder, and prints the documents. */
export const uploadPath = async (
  context: Context,
  path: string,
  flags: UploadFlags,
): Promise<void> => {
  const client = await context.client();
  const files = await filesAt(path);
  const { documents, refused } = await send(context, client, files, flags);
  for (const { filename, reason } of refused) context.out.warn(`${safe(filename)} ${reason}.`);
  const read = flags.noWait ? documents : await untilRead(context, client, documents);
  for (const { filename, error } of read) {
    if (error !== null) context.out.warn(`${safe(filename)}: ${safe(error)}`);
  }
  const failed = read.filter(({ status }) => status === 'failed').length;
  const done = flags.noWait ? 'Uploaded' : 'Uploaded and read';
  context.out.page({
    reply: { documents: read, refused },
    rows: read,
    columns: documentColumns,
  });
  context.out.note(`${done}: ${countOf(read.length - failed, 'document')}.`);
  if (refused.length + failed > 0) context.exitCode = Exit.failed;
};

type LocalFiles = Awaited<ReturnType<typeof filesAt>>;

const send = async (
  context: Context,
  client: Client,
  files: LocalFiles,
  { tag, language }: UploadFlags,
) => {
  const tags = tag
    ?.split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const fields = { ...(tags && { tags }), ...(language !== undefined && { language }) };
  const documents: DocumentView[] = [];
  const refused: { filename: string; reason: string }[] = [];
  let sent = 0;
  for (const batch of batchesOf(files)) {
    const doing = `Uploading ${sent + 1} to ${sent + batch.length} of ${files.length}`;
    const reply = await withProgress(
      context.streams.stderr,
      async () =>
        inTurn(context, async () => uploadDocuments(client, await readFiles(batch), fields)),
      doing,
    );
    documents.push(...reply.documents);
    refused.push(...reply.refused);
    sent += batch.length;
  }
  return { documents, refused };
};

/** The outcome of an upload. */
interface Sent {
  documents: DocumentView[];
  refused: { filename: string; reason: string }[];
}

/** Sends again after the time that the daemon asks for. A batch of which nothing was kept is told. */
const inTurn = async ({ signal }: Context, work: () => Promise<Sent>): Promise<Sent> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { statusCode, retryAfterSeconds: seconds, details } = error;
      const isBusy = statusCode === 429 && seconds !== undefined;
      if (isBusy) await pause(seconds * 1000, undefined, { signal });
      else if (details?.length && details.every(({ path }) => path === 'files')) {
        return { documents: [], refused: details.map(refusalOf) };
      } else throw error;
    }
  }
};

/** A refused file, from the sentence of the error: the name, and then the reason. */
const refusalOf = ({ message }: { message: string }) => {
  const at = message.search(/ (is|holds) /);
  return { filename: message.slice(0, at), reason: message.slice(at + 1) };
};

/** Waits until all documents are read; a line on the terminal says how far it is. */
const untilRead = async (
  { streams, signal }: Context,
  client: Client,
  documents: DocumentView[],
): Promise<DocumentView[]> => {
  const read: DocumentView[] = [];
  for (const [index, { id, operationId }] of documents.entries()) {
    const doing = `Reading ${index + 1} of ${documents.length}`;
    read.push(
      await withProgress(
        streams.stderr,
        async () => {
          for (;;) {
            const document = await client.documents.get({ id });
            if (OVER.includes(document.status)) return document;
            signal.throwIfAborted();
            await client.operations.get({ id: operationId, query: { wait: WAIT_SECONDS } });
          }
        },
        doing,
      ),
    );
  }
  return read;
};
