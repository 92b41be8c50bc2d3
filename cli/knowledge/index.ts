import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { contracts, type KnowledgeIndex } from '../../src/client/index.js';
import { type Context, command, on } from '../command.js';
import { documentCrud } from '../documents/document.js';
import { uploadPaths } from '../documents/upload.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readText } from '../input.js';
import { noWait, showBegun } from '../operations/follow.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.knowledge();

/** The fields that the argument stands for. */
const SOURCES = ['text', 'url', 'documentId', 'path'];

/** The command that makes a text, a page, a document or files searchable. */
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
  flags: { noWait, onServer: on('Read the path on the machine of the daemon') },
  notes: [
    'A text is read here and sent: at most 1,000,000 characters.',
    'A folder, or a file that is no plain text, as a web page, is uploaded as documents.',
    'Where there is no such file, a document is meant: its file name, its id, or the end of that.',
    'The daemon reads paths in the folders of ADJUTANT_KNOWLEDGE_ROOTS alone.',
  ],
  seeAlso: 'adjutant knowledge search; adjutant knowledge folders',
  run: async (context, { args, flags, fields }) => {
    const named = args['file|folder|url|document|-'];
    const source = await sourceOf(context, named, flags.onServer === true);
    if (source === null) {
      const tags = fields.tags;
      const refused = Object.keys(fields).find((field) => field !== 'tags');
      if (refused !== undefined) {
        throw usageFault(
          `--${refused} is not for what is uploaded.`,
          'A folder on the machine of the daemon: --on-server',
        );
      }
      return uploadPaths(context, [named], {
        ...(tags !== undefined && { tags: String(tags) }),
        ...flags,
      });
    }
    const given = { fields: { ...source.preset, ...fields }, more: source.more };
    const body = await requestFrom(endpoints.index.body, given, context.at);
    const begun = await (await context.client()).knowledge.index({ body });
    await showBegun(context, begun, flags);
  },
});

/** The source that is sent, and fields that may be given otherwise. */
interface IndexSource {
  more: Partial<KnowledgeIndex>;
  preset?: Record<string, string>;
}

/** The endings of files whose text stands among marks of its form, which a document leaves out. */
const MARKED_UP = /\.(?:html?|xhtml|rtf|eml)$/i;

/** Returns what is sent for the argument; null for what is uploaded. */
const sourceOf = async (
  context: Context,
  named: string,
  isOnServer: boolean,
): Promise<IndexSource | null> => {
  if (isOnServer) return { more: { path: named.startsWith('/') ? named : resolve(named) } };
  if (/^https?:\/\//.test(named)) return { more: { url: named } };
  if (named === '-') return textSource(context, named);
  const found = await stat(named).catch(() => null);
  if (found === null && !named.includes('/')) {
    context.out.note(`There is no file ${oneLine(named)} here, so a document is meant.`);
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
