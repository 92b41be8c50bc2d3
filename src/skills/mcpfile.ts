import { lstat, readFile, stat } from 'node:fs/promises';
import { withoutMark } from '../kernel/jsonvalue.js';
import { InvalidServer, parseServerEntry, SERVER_NAME, type ServerEntry } from './spec.js';

export type McpFileEntry = { name: string; server: ServerEntry } | { name: string; fault: string };

const MAX_BYTES = 1024 * 1024;
const MAX_SERVERS = 100;
/** Name under which an unusable file is listed. */
const WHOLE = 'mcp.json';

/** A missing file has no servers. An unchanged entry is the same object. */
export const createMcpFile = (path: string): (() => Promise<McpFileEntry[]>) => {
  let known: { stamp: string; written: McpFileEntry[] } = { stamp: '', written: [] };
  return async () => {
    const stats = await lstat(path).catch(() => null);
    const stamp = stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : '';
    if (stamp === known.stamp) return known.written;
    const written = stats ? await load(path) : [];
    known = { stamp, written: written.map((one) => sameAs(one, known.written) ?? one) };
    return known.written;
  };
};

const sameAs = (one: McpFileEntry, before: McpFileEntry[]): McpFileEntry | undefined =>
  before.find((other) => JSON.stringify(other) === JSON.stringify(one));

const load = async (path: string): Promise<McpFileEntry[]> => {
  try {
    const found = await stat(path);
    if (!found.isFile()) return [{ name: WHOLE, fault: 'The file is not a regular file' }];
    if (found.size > MAX_BYTES) return [{ name: WHOLE, fault: 'The file is larger than 1 MiB' }];
    return parseMcpFileEntries(JSON.parse(withoutMark(await readFile(path, 'utf8'))));
  } catch (error) {
    // The message of the parser quotes the file, which contains secrets.
    if (error instanceof SyntaxError) return [{ name: WHOLE, fault: 'The file is not valid JSON' }];
    if (!(error instanceof Error && 'code' in error)) throw error;
    return [{ name: WHOLE, fault: `The file cannot be read (${error.code})` }];
  }
};

const parseMcpFileEntries = (file: unknown): McpFileEntry[] => {
  const servers: unknown =
    typeof file === 'object' && file !== null && 'mcpServers' in file ? file.mcpServers : null;
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) {
    return [{ name: WHOLE, fault: 'The file has no object "mcpServers"' }];
  }
  return Object.entries(servers).slice(0, MAX_SERVERS).map(parseMcpFileEntry);
};

const parseMcpFileEntry = ([name, given]: [string, unknown]): McpFileEntry => {
  if (!SERVER_NAME.test(name)) {
    return {
      name,
      fault:
        'The server name must be 1 to 40 letters, digits, - and _, starting with a letter or digit',
    };
  }
  try {
    return { name, server: parseServerEntry(given) };
  } catch (error) {
    if (!(error instanceof InvalidServer)) throw error;
    return { name, fault: error.message };
  }
};
