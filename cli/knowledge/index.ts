import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { contracts, type KnowledgeIndex, type Reply } from '../../src/client/index.js';
import { normalizeUrl } from '../../src/kernel/contract/url.js';
import { type Context, command, switchFlag } from '../command.js';
import { documentCrud } from '../documents/document.js';
import { uploadPaths } from '../documents/upload.js';
import { Exit, usageFault } from '../exit.js';
import { orgInput, requestFields, requestFrom } from '../fields.js';
import { readPipedText, readText } from '../input.js';
import { noWait, showStarted } from '../operations/follow.js';
import { formatCount, oneLine, safe } from '../text.js';

const endpoints = await contracts.knowledge();

/** Fields that the argument sets. */
const SOURCES = ['text', 'url', 'documentId', 'path'];
/** Fields that also apply to uploaded files. */
const UPLOADED = ['tags', 'orgId'];

export const indexCommand = command({
  name: 'index',
  args: '<file|folder|url|document|->',
  calls: [
    endpoints.index,
    'documents upload',
    'documents list',
    'documents get',
    'folders get',
    'operations get',
  ],
  examples: [
    'notes.md',
    'minutes.txt --title "Minutes of May" --tags minutes',
    '- < notes.md',
    'https://example.org/handbook --tags work',
    '/srv/notes --on-server --watch --patterns "**/*.md"',
  ],
  fields: () => requestFields(endpoints.index.body, SOURCES),
  flags: {
    noWait,
    onServer: switchFlag('Read the path on the machine of the daemon instead of this machine'),
  },
  notes: [
    'A text is read on this machine and sent: at most 1,000,000 characters.',
    'A folder, or a file that is not plain text, such as a web page, is uploaded as documents.',
    'If no such file exists, the argument is a document: its file name, its id, or the ' +
      'end of the id.',
    'The daemon reads only paths in the folders of ADJUTANT_KNOWLEDGE_ROOTS.',
    'Exit code 1: a file was refused, or could not be read.',
  ],
  seeAlso: 'adjutant knowledge search; adjutant knowledge folders',
  run: async (context, { args, flags, fields }) => {
    const named = args['file|folder|url|document|-'];
    const source = await readIndexSource(context, named, flags.onServer === true);
    if (source === null) {
      const tags = fields.tags;
      const refused = Object.keys(fields).find((field) => !UPLOADED.includes(field));
      if (refused !== undefined) {
        throw usageFault(
          `--${refused} does not apply to uploaded files.`,
          'To index a folder on the machine of the daemon: --on-server',
        );
      }
      return uploadPaths(context, [named], {
        ...(tags !== undefined && { tags: String(tags) }),
        ...flags,
        ...orgInput(fields),
      });
    }
    const input = { fields: { ...source.preset, ...fields }, more: source.more };
    const body = await requestFrom(endpoints.index.body, input, context.at);
    const begun = await (await context.client()).knowledge.index({ body });
    const ended = await showStarted(context, begun, flags);
    if (ended?.resource.kind === 'folder') await reportUnread(context, ended.resource.id);
  },
});

const reportUnread = async (context: Context, id: string): Promise<void> => {
  const folder = await (await context.client()).folders.get({ id });
  warnUnread(context, folder);
  if (folder.files.failed + folder.files.skipped > 0) context.exitCode = Exit.failed;
};

/** Names the files of a folder that could not be read completely, with the reason. */
export const warnUnread = (
  { out }: Context,
  { files, failures }: Reply<'folders', 'get'>,
): void => {
  for (const { path, error } of failures) out.warn(`${safe(path)}: ${safe(error)}`);
  const others = files.failed + files.skipped - failures.length;
  if (others > 0) out.warn(`${formatCount(others, 'more file')} could not be read.`);
};

/** The source to send, and defaults of fields. */
interface IndexSource {
  more: Partial<KnowledgeIndex>;
  preset?: Record<string, string>;
}

/** Files with markup, which a document leaves out. */
const MARKED_UP = /\.(?:html?|xhtml|rtf|eml)$/i;

/** Returns what to send, or null for files to upload. */
const readIndexSource = async (
  context: Context,
  named: string,
  isOnServer: boolean,
): Promise<IndexSource | null> => {
  if (isOnServer) return { more: { path: named.startsWith('/') ? named : resolve(named) } };
  const url = normalizeUrl(named);
  if (/^https?:\/\//.test(url)) return { more: { url } };
  if (named === '-') return { more: { text: await readPipedText(context) } };
  const found = await stat(named).catch(() => null);
  if (found === null && !named.includes('/')) {
    context.out.note(`There is no file ${oneLine(named)} here. Using the document of that name.`);
    const { id } = await documentCrud.find(context, named);
    return { more: { documentId: id } };
  }
  if (found?.isDirectory() || (found && MARKED_UP.test(named))) return null;
  const text = await readText(context, named);
  // The upload of an empty file names it.
  return text ? { more: { text }, preset: { title: basename(named) } } : null;
};
