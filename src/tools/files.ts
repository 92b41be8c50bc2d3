import { iso } from '../kernel/clock.js';
import { ConfinedPathError, listInside, readInside, writeInside } from '../kernel/confinedpath.js';
import { anyText, boolean, integer, object, optional, text } from '../kernel/contract/schema.js';
import { offsetInput, textPart } from './textpart.js';
import {
  defineTool,
  HARMLESS,
  refusal,
  type Tool,
  type ToolDefinition,
  type ToolGroup,
} from './tool.js';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_TEXT = 256 * 1024;
const MAX_ENTRIES = 1_000;
const LEVELS = 16;
const MAX_FILES = 5_000;
const MAX_MATCHES = 200;
const MAX_LINE_LENGTH = 300;
/** Larger files are not searched. */
const MAX_SEARCHED_BYTES = 1024 * 1024;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;

const path = () => text(1_000).description('Path relative to your folder, with slashes');
const folder = () =>
  anyText(1_000).description('Path relative to your folder. Defaults to your folder.');

const ReadInput = object('FilesReadInput', {
  path: path(),
  fromLine: optional(integer(1, 10_000_000).description('First line. Defaults to 1.')),
  lines: optional(integer(1, 100_000).description('Number of lines. Defaults to all.')),
  offset: offsetInput(),
});
const WriteInput = object('FilesWriteInput', {
  path: path(),
  content: anyText(1_048_576).description('Complete new content'),
});
const ListInput = object('FilesListInput', {
  path: optional(folder()),
  levels: optional(integer(1, 16).description('Levels of subfolders. Defaults to 1.')),
});
const SearchInput = object('FilesSearchInput', {
  text: text(1_000).description('Exact text, not a pattern'),
  path: optional(folder()),
  ignoreCase: optional(boolean()),
});

export const filesTools = (): ToolGroup => ({
  skillId: 'files',
  description: "Files in the agent's own folder",
  tools: [read, write, list, search],
});

/**
 * Reports an invalid path as a fault of `path`. Writing counts as free of side effects, because the
 * folder belongs to the agent, and running a file requires a tool with side effects.
 */
const fileTool = <T>(
  definition: Pick<ToolDefinition<T>, 'name' | 'description' | 'input' | 'run'>,
): Tool =>
  defineTool({
    skillId: 'files',
    ...HARMLESS,
    ...definition,
    run: async (args, context, tool) => {
      try {
        return await definition.run(args, context, tool);
      } catch (error) {
        if (!(error instanceof ConfinedPathError)) throw error;
        throw refusal(tool, [{ path: 'path', message: `cannot be used: ${error.message}` }]);
      }
    },
  });

const read = fileTool({
  name: 'read',
  description:
    'Read a text file in your folder. Returns { text, fromLine, totalLines }. Long text is cut: ' +
    '`truncated: { missingChars, nextOffset }`. Repeat the call with `offset: nextOffset` to read ' +
    'on.',
  input: ReadInput,
  run: async ({ path, fromLine = 1, lines, offset }, context) => {
    const bytes = await readInside(await context.openFolder(), path, MAX_FILE_BYTES);
    const all = decodeUtf8(path, bytes).split('\n');
    const upTo = lines === undefined ? all.length : fromLine - 1 + lines;
    const wanted = all.slice(fromLine - 1, upTo).join('\n');
    const beside = { fromLine, totalLines: all.length };
    const paging = { key: 'text', beside, offset, most: MAX_TEXT, isRepeatable: true };
    return textPart(wanted, paging, context);
  },
});

const write = fileTool({
  name: 'write',
  description:
    'Create or overwrite a text file in your folder. Missing parent folders are created. ' +
    'Returns { path, size }.',
  input: WriteInput,
  run: async ({ path, content }, { openFolder }) => {
    await writeInside(await openFolder(), path, content);
    return { path, size: Buffer.byteLength(content) };
  },
});

const list = fileTool({
  name: 'list',
  description:
    'List the files in a folder. Returns { entries: [{ path, kind, size, modifiedAt }], truncated }.',
  input: ListInput,
  run: async ({ path = '', levels = 1 }, { openFolder }) => {
    const found = await listInside(await openFolder(), path, { levels, most: MAX_ENTRIES });
    const entries = found.entries.map(({ path: of, kind, size, modifiedMs }) => ({
      path: of,
      kind,
      size,
      modifiedAt: iso(modifiedMs),
    }));
    return { entries, truncated: found.isCut };
  },
});

const search = fileTool({
  name: 'search',
  description:
    'Search for text in all files of a folder and its subfolders. Returns ' +
    '{ matches: [{ path, line, text }], truncated }.',
  input: SearchInput,
  run: async ({ text, path = '', ignoreCase = false }, { openFolder, signal }) =>
    searchFolder(await openFolder(), { text, path, ignoreCase }, signal),
});

const decodeUtf8 = (path: string, bytes: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfinedPathError(path, 'is not UTF-8 text');
  }
};

interface SearchMatch {
  path: string;
  /** From 1. */
  line: number;
  text: string;
}

/** Throws ConfinedPathError or the abort reason. */
const searchFolder = async (
  root: string,
  wanted: { text: string; path: string; ignoreCase: boolean },
  signal: AbortSignal,
): Promise<{ matches: SearchMatch[]; truncated: boolean }> => {
  const found = await listInside(root, wanted.path, { levels: LEVELS, most: MAX_FILES });
  const files = found.entries.filter(
    ({ kind, size }) => kind === 'file' && size <= MAX_SEARCHED_BYTES,
  );
  const matches: SearchMatch[] = [];
  let left = MAX_TOTAL_BYTES;
  for (const { path, size } of files) {
    signal.throwIfAborted();
    left -= size;
    if (left < 0) return { matches, truncated: true };
    for (const match of linesWith(wanted, path, await readSearchableText(root, path))) {
      if (matches.length === MAX_MATCHES) return { matches, truncated: true };
      matches.push(match);
    }
  }
  return { matches, truncated: found.isCut };
};

/** Empty for a deleted or binary file. */
const readSearchableText = async (root: string, path: string): Promise<string> => {
  try {
    const bytes = await readInside(root, path, MAX_SEARCHED_BYTES);
    return bytes.includes(0) ? '' : bytes.toString();
  } catch (error) {
    if (error instanceof ConfinedPathError) return '';
    throw error;
  }
};

const linesWith = (
  { text, ignoreCase }: { text: string; ignoreCase: boolean },
  path: string,
  content: string,
): SearchMatch[] => {
  const fold = (given: string) => (ignoreCase ? given.toLowerCase() : given);
  if (!fold(content).includes(fold(text))) return [];
  return content
    .split('\n')
    .map((line, at) => ({ path, line: at + 1, text: line }))
    .filter((each) => fold(each.text).includes(fold(text)))
    .map((each) => ({ ...each, text: each.text.slice(0, MAX_LINE_LENGTH) }));
};
