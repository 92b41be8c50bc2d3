import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { contracts, type KnowledgeIndex } from '../../src/client/index.js';
import { type Context, command, on } from '../command.js';
import { uploadPath } from '../documents/upload.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { readText } from '../input.js';
import { noWait, showBegun } from '../operations/follow.js';

const endpoints = await contracts.knowledge();

/** The fields that the argument stands for. */
const SOURCES = ['text', 'url', 'documentId', 'path'];

/** The command that makes a text, a page, a document or files searchable. */
export const indexCommand = command({
  name: 'index',
  args: '<file|folder|url|document|->',
  calls: [endpoints.index, 'documents upload', 'documents get', 'operations get'],
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
    'A folder, or a file that is no text, is uploaded as documents, unless --on-server is given.',
    'The daemon reads paths in the folders of ADJUTANT_KNOWLEDGE_ROOTS alone.',
  ],
  seeAlso: 'adjutant knowledge search; adjutant knowledge folders',
  run: async (context, { args, flags, fields }) => {
    const named = args['file|folder|url|document|-'];
    const source = await sourceOf(context, named, flags.onServer === true);
    if (source === null) {
      const tags = fields.tags;
      const refused = Object.keys(fields).find((field) => field !== 'tags');
      if (refused !== undefined) throw usageFault(`--${refused} is not for what is uploaded.`);
      return uploadPath(context, named, {
        ...(tags !== undefined && { tag: String(tags) }),
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

/** Returns what is sent for the argument; null for what is uploaded. */
const sourceOf = async (
  context: Context,
  named: string,
  isOnServer: boolean,
): Promise<IndexSource | null> => {
  if (isOnServer) return { more: { path: named.startsWith('/') ? named : resolve(named) } };
  if (/^https?:\/\//.test(named)) return { more: { url: named } };
  if (/^document_[0-9a-z]{26}$/.test(named)) return { more: { documentId: named } };
  if (named !== '-' && (await stat(named).catch(() => null))?.isDirectory()) return null;
  const text = await readText(context, named);
  if (text === null) return null;
  return { more: { text }, ...(named !== '-' && { preset: { title: basename(named) } }) };
};
