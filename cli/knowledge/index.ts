import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { contracts, type KnowledgeIndex } from '../../src/client/index.js';
import { type Context, command, switchFlag } from '../command.js';
import { documentCrud } from '../documents/document.js';
import { uploadPaths } from '../documents/upload.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readText } from '../input.js';
import { noWait, showStarted } from '../operations/follow.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.knowledge();

/** Fields that the argument sets. */
const SOURCES = ['text', 'url', 'documentId', 'path'];

export const indexCommand = command({
  name: 'index',
  args: '<file|folder|url|document|->',
  calls: [endpoints.index, 'documents upload', 'documents list', 'documents get', 'operations get'],
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
  ],
  seeAlso: 'adjutant knowledge search; adjutant knowledge folders',
  run: async (context, { args, flags, fields }) => {
    const named = args['file|folder|url|document|-'];
    const source = await readIndexSource(context, named, flags.onServer === true);
    if (source === null) {
      const tags = fields.tags;
      const refused = Object.keys(fields).find((field) => field !== 'tags');
      if (refused !== undefined) {
        throw usageFault(
          `--${refused} does not apply to uploaded files.`,
          'To index a folder on the machine of the daemon: --on-server',
        );
      }
      return uploadPaths(context, [named], {
        ...(tags !== undefined && { tags: String(tags) }),
        ...flags,
      });
    }
    const input = { fields: { ...source.preset, ...fields }, more: source.more };
    const body = await requestFrom(endpoints.index.body, input, context.at);
    const begun = await (await context.client()).knowledge.index({ body });
    await showStarted(context, begun, flags);
  },
});

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
  if (/^https?:\/\//.test(named)) return { more: { url: named } };
  if (named === '-') return textSource(context, named);
  const found = await stat(named).catch(() => null);
  if (found === null && !named.includes('/')) {
    context.out.note(`There is no file ${oneLine(named)} here. Using the document of that name.`);
    const { id } = await documentCrud.find(context, named);
    return { more: { documentId: id } };
  }
  if (found?.isDirectory() || (found && MARKED_UP.test(named))) return null;
  const source = await textSource(context, named);
  return source && { ...source, preset: { title: basename(named) } };
};

const textSource = async (context: Context, named: string): Promise<IndexSource | null> => {
  const text = await readText(context, named);
  return text === null ? null : { more: { text } };
};
