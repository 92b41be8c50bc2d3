import { ApiError } from '../../src/client/errors.js';
import type { Client, DocumentView, Reply } from '../../src/client/index.js';
import { uploadDocuments } from '../../src/client/upload.js';
import { type Context, command, textFlag } from '../command.js';
import { Exit, usageFault } from '../exit.js';
import { orgField, orgInput, pathInOrg } from '../fields.js';
import { awaitOperationEnd, noWait } from '../operations/follow.js';
import { withProgress } from '../progress.js';
import { formatCount, safe } from '../text.js';
import { documentColumns, unlockLine } from './document.js';
import { batchFiles, findLocalFiles, readFiles, readPipedFile, UNREADABLE } from './files.js';

const OVER = ['completed', 'failed', 'cancelled'];
/** Maximum number of existing documents to name one by one. */
const MAX_NAMED = 5;

interface UploadFlags {
  tags?: string;
  language?: string;
  name?: string;
  noWait?: boolean;
  orgId?: string;
}

export const uploadCommand = command({
  name: 'upload',
  args: '<path...>',
  summary: 'Upload files and folders, and wait until they are read',
  calls: ['documents upload', 'documents get', 'operations get'],
  examples: [
    'letter.pdf',
    'letter.pdf minutes.pdf',
    'scans/ --tags invoices --language deu',
    'mail.eml --no-wait --json',
    '- --name letter.pdf < letter.pdf',
  ],
  fields: () => [orgField],
  flags: {
    tags: textFlag('<text…>', 'Tags, separated by commas'),
    language: textFlag(
      '<codes>',
      'Languages for text recognition, such as eng+deu. Defaults to eng',
    ),
    name: textFlag('<name>', 'File name for the content of stdin, if the file argument is -'),
    noWait,
  },
  notes: [
    'Hidden files are skipped. A file that already exists is not stored or tagged again.',
    'A document is named after its file, without the folder. To tell folders apart, ' +
      'upload each with its own tags.',
    'Exit code 1: a file was refused, or could not be read.',
  ],
  seeAlso: 'adjutant documents text, to print the text',
  run: (context, { args: { path }, flags, fields }) =>
    uploadPaths(context, path, { ...flags, ...orgInput(fields) }),
});

export const uploadPaths = async (
  context: Context,
  paths: string[],
  flags: UploadFlags,
): Promise<void> => {
  const client = await context.client();
  const { files, hidden, unreadable } = await listUploadFiles(context, paths, flags.name);
  const { documents, refused: rejected } = await send(context, client, files, flags);
  const refused = [
    ...unreadable.map((filename) => ({ filename, reason: UNREADABLE })),
    ...rejected,
  ];
  for (const { filename, reason } of refused) context.out.warn(`${safe(filename)} ${reason}.`);
  const read = flags.noWait ? documents : await untilRead(context, documents);
  for (const { filename, error } of read) {
    if (error !== null) context.out.warn(`${safe(filename)}: ${safe(error)}`);
  }
  const unlock = unlockLine(read);
  if (unlock) context.out.note(unlock);
  const failed = read.filter(({ status }) => status === 'failed').length;
  const done = flags.noWait ? 'Uploaded' : 'Uploaded and read';
  context.out.page({
    reply: { documents: read, refused },
    rows: read,
    columns: documentColumns,
  });
  const known = documents.filter(({ duplicate }) => duplicate);
  for (const line of knownLines(known, flags.tags !== undefined)) context.out.note(line);
  const fresh = read.filter(({ status }, at) => status !== 'failed' && !documents[at]?.duplicate);
  if (fresh.length > 0 || known.length === 0)
    context.out.note(`${done}: ${formatCount(fresh.length, 'document')}.`);
  if (hidden > 0) context.out.note(`Skipped: ${formatCount(hidden, 'hidden file')}.`);
  if (refused.length + failed > 0) context.exitCode = Exit.failed;
};

const listUploadFiles = async (
  { streams }: Context,
  paths: string[],
  name: string | undefined,
): Promise<LocalFiles> => {
  if (paths.includes('-') !== (name !== undefined) || (name !== undefined && paths.length > 1)) {
    throw usageFault(
      '--name and - must be used together, without other paths.',
      'From standard input: adjutant documents upload - --name letter.pdf',
    );
  }
  if (name !== undefined) {
    return { files: [await readPipedFile(streams.stdin, name)], hidden: 0, unreadable: [] };
  }
  const found = await Promise.all(paths.map(findLocalFiles));
  return {
    files: found.flatMap(({ files }) => files),
    hidden: found.reduce((sum, { hidden }) => sum + hidden, 0),
    unreadable: found.flatMap(({ unreadable }) => unreadable),
  };
};

const knownLines = (known: DocumentView[], isTagged: boolean): string[] => {
  const tags = isTagged ? ', and its tags are unchanged' : '';
  if (known.length <= MAX_NAMED)
    return known.map(({ filename }) => `${safe(filename)} already exists${tags}.`);
  const all = isTagged ? ', and their tags are unchanged' : '';
  return [`${known.length} documents already exist${all}.`];
};

type LocalFiles = Awaited<ReturnType<typeof findLocalFiles>>;

const send = async (
  context: Context,
  client: Client,
  files: LocalFiles['files'],
  { tags: words, language, orgId }: UploadFlags,
) => {
  const uploader = orgId === undefined ? client : clientFor(client, orgId);
  const tags = words
    ?.split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const fields = { ...(tags && { tags }), ...(language !== undefined && { language }) };
  const documents: Sent['documents'] = [];
  const refused: { filename: string; reason: string }[] = [];
  let sent = 0;
  for (const batch of batchFiles(files)) {
    const doing = `Uploading ${sent + 1} to ${sent + batch.length} of ${files.length}`;
    const reply = await withProgress(
      context.streams.stderr,
      async () =>
        inTurn(context, async () => uploadDocuments(uploader, await readFiles(batch), fields)),
      doing,
    );
    documents.push(...reply.documents);
    refused.push(...reply.refused);
    sent += batch.length;
  }
  return { documents, refused };
};

/** Sends the requests for an organization. */
const clientFor = (client: Client, orgId: string): Pick<Client, 'request'> => ({
  request: (of) => client.request({ ...of, path: pathInOrg(of.path, orgId) }),
});

interface Sent {
  documents: Reply<'documents', 'upload'>['documents'];
  refused: { filename: string; reason: string }[];
}

/**
 * Retries after the delay that the daemon asks for. Returns the reasons if a whole batch is
 * refused.
 */
const inTurn = async ({ signal, clock }: Context, work: () => Promise<Sent>): Promise<Sent> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { statusCode, retryAfterSeconds: seconds, details } = error;
      const isBusy = statusCode === 429 && seconds !== undefined;
      if (isBusy) await clock.wait(seconds * 1000, signal);
      else if (details?.length && details.every(({ path }) => path === 'files')) {
        return { documents: [], refused: details.map(parseUploadRefusal) };
      } else throw error;
    }
  }
};

/** The message is the file name, followed by the reason. */
const parseUploadRefusal = ({ message }: { message: string }) => {
  const at = message.search(/ (is|has|exceeds) /);
  return { filename: message.slice(0, at), reason: message.slice(at + 1) };
};

/** Waits until all documents are read. A terminal shows the progress. */
const untilRead = async (context: Context, documents: Sent['documents']) => {
  const client = await context.listener();
  const read: Sent['documents'] = [];
  const open = documents.filter(({ status }) => !OVER.includes(status));
  for (const { id, duplicate } of documents) {
    const at = open.findIndex((each) => each.id === id);
    const doing = open.length > 1 ? `Reading ${at + 1} of ${open.length}` : 'Reading';
    const others = open.slice(at + 1).map(({ operationId }) => operationId);
    for (;;) {
      const document = await client.documents.get({ id });
      if (OVER.includes(document.status)) {
        read.push({ ...document, duplicate });
        break;
      }
      const operation = await client.operations.get({ id: document.operationId });
      await awaitOperationEnd(context, operation, { doing, others });
    }
  }
  return read;
};
