import { iso } from '../kernel/clock.js';
import { listInside, NotInside, readInside, writeInside } from '../kernel/confinedpath.js';
import { anyText, flag, object, optional, text, whole } from '../kernel/contract/schema.js';
import { searchFolder } from './search.js';
import { defineTool, refusal, type Tool, type ToolGroup } from './tool.js';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_TEXT = 256 * 1024;
const MAX_ENTRIES = 1_000;

const path = () => text(1_000).description('Relative to your folder, with slashes');
const folder = () => anyText(1_000).description('Relative to your folder; all of it unless given');

const ReadInput = object('FilesReadInput', {
  path: path(),
  fromLine: optional(whole(1, 10_000_000).description('The first line, 1 unless given')),
  lines: optional(whole(1, 100_000).description('How many lines, all unless given')),
});
const WriteInput = object('FilesWriteInput', {
  path: path(),
  content: anyText(1_048_576).description('All that the file is to hold'),
});
const ListInput = object('FilesListInput', {
  path: optional(folder()),
  levels: optional(whole(1, 16).description('How deep to look, 1 unless given')),
});
const SearchInput = object('FilesSearchInput', {
  text: text(1_000).description('As it stands in the file; no pattern'),
  path: optional(folder()),
  ignoreCase: optional(flag()),
});

/**
 * Ours: writing counts as free of side effects, since an agent's folder is its own, like its
 * transcript. A file in it runs only through a tool that has side effects.
 */
const traits = {
  skillId: 'files',
  sideEffects: false,
  once: false,
  sendsOut: false,
  outside: false,
};

export const filesTools = (): ToolGroup => ({
  skillId: 'files',
  description: "Files in the agent's own folder",
  tools: [read, write, list, search],
});

const read: Tool = defineTool({
  ...traits,
  name: 'read',
  description:
    'Reads a text file and returns { text, fromLine, totalLines }. Beyond 256 KiB it is cut, and ' +
    '`truncated: true` says so.',
  input: ReadInput,
  run: ({ path, fromLine = 1, lines }, { folder }) =>
    naming('read', async () => {
      const all = textOf(path, await readInside(folder, path, MAX_FILE_BYTES)).split('\n');
      const upTo = lines === undefined ? all.length : fromLine - 1 + lines;
      const wanted = all.slice(fromLine - 1, upTo).join('\n');
      const isCut = wanted.length > MAX_TEXT;
      return {
        text: wanted.slice(0, MAX_TEXT),
        fromLine,
        totalLines: all.length,
        ...(isCut && { truncated: true }),
      };
    }),
});

const write: Tool = defineTool({
  ...traits,
  name: 'write',
  description:
    'Writes a text file, in place of the one that is there, and makes the folders that lead to it. ' +
    'Returns { path, size }.',
  input: WriteInput,
  run: ({ path, content }, { folder }) =>
    naming('write', async () => {
      await writeInside(folder, path, content);
      return { path, size: Buffer.byteLength(content) };
    }),
});

const list: Tool = defineTool({
  ...traits,
  name: 'list',
  description: 'Lists a folder: { entries: [{ path, kind, size, modifiedAt }], truncated }.',
  input: ListInput,
  run: ({ path = '', levels = 1 }, { folder }) =>
    naming('list', async () => {
      const found = await listInside(folder, path, { levels, most: MAX_ENTRIES });
      const entries = found.entries.map(({ modifiedMs, ...entry }) => ({
        ...entry,
        modifiedAt: iso(modifiedMs),
      }));
      return { entries, truncated: found.isCut };
    }),
});

const search: Tool = defineTool({
  ...traits,
  name: 'search',
  description:
    'Looks for text in the files of a folder and all below it. Returns ' +
    '{ matches: [{ path, line, text }], truncated }.',
  input: SearchInput,
  run: ({ text, path = '', ignoreCase = false }, { folder, signal }) =>
    naming('search', () => searchFolder(folder, { text, path, ignoreCase }, signal)),
});

/** Reports a bad path as a fault of the argument `path`. */
const naming = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotInside)) throw error;
    throw refusal({ skillId: 'files', name }, [
      { path: 'path', message: `cannot be used: ${error.message}` },
    ]);
  }
};

const textOf = (path: string, bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NotInside(path, 'is no UTF-8 text');
  }
};
