import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rm,
} from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, NamedError } from './failure.js';

export class ConfinedPathError extends NamedError {
  constructor(path: string, why: string) {
    super(`${path || 'the folder'} ${why}`);
  }
}

export interface FolderEntry {
  path: string;
  kind: 'file' | 'folder' | 'other';
  size: number;
  modifiedMs: number;
  identity: string;
  stamp: string;
}

/** The name is not UTF-8, so the path cannot be opened. */
export type MisnamedEntry = Pick<FolderEntry, 'path' | 'kind'>;

interface Listing {
  entries: FolderEntry[];
  misnamed: MisnamedEntry[];
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Follows no symbolic link below `root`. Throws ConfinedPathError. */
export const readInside = (root: string, path: string, maxBytes: number): Promise<Buffer> =>
  openInside(root, path, async (file, stats) => {
    if (stats.size > maxBytes) throw new ConfinedPathError(path, `has more than ${maxBytes} bytes`);
    const bytes = Buffer.alloc(stats.size);
    const { bytesRead } = await file.read(bytes, 0, stats.size, 0);
    return bytes.subarray(0, bytesRead);
  });

export const openInside = <T>(
  root: string,
  path: string,
  work: (file: FileHandle, stats: Stats) => Promise<T>,
): Promise<T> =>
  inFolder(root, path, async (at, name) => {
    const file = await open(at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new ConfinedPathError(path, 'is not a regular file');
      return await work(file, stats);
    } finally {
      await file.close();
    }
  });

export const writeInside = (root: string, path: string, content: string): Promise<void> =>
  inFolder(
    root,
    path,
    async (at, name) => {
      const there = await lstat(at(name)).catch(() => null);
      if (there && !there.isFile()) throw new ConfinedPathError(path, 'is not a regular file');
      const draft = at(`.${randomBytes(9).toString('hex')}.draft`);
      const file = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
        await rename(draft, at(name));
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      } finally {
        await file.close();
      }
    },
    { makes: true },
  );

/**
 * Lists down to `levels` levels. Links are listed as `other` and not followed. Throws ConfinedPathError.
 */
export const listInside = async (
  root: string,
  path: string,
  { levels, most }: { levels: number; most: number },
): Promise<Listing & { isCut: boolean }> => {
  const entries: FolderEntry[] = [];
  const misnamed: MisnamedEntry[] = [];
  const visit = async (parts: string[], level: number): Promise<boolean> => {
    const found = await listFolderEntries(root, parts);
    misnamed.push(...found.misnamed);
    for (const entry of found.entries) {
      if (entries.length === most) return false;
      entries.push(entry);
      const inner = entry.path.split('/');
      if (entry.kind === 'folder' && level < levels && !(await visit(inner, level + 1)))
        return false;
    }
    return true;
  };
  const isWhole = await visit(splitConfinedPath(path), 1);
  return { entries, misnamed, isCut: !isWhole };
};

export const statInside = (root: string, path: string): Promise<FolderEntry | null> =>
  inFolder(root, path, async (at, name) => {
    const stats = await lstat(at(name)).catch(unlessMissing);
    return stats ? toFolderEntry(splitConfinedPath(path).join('/'), stats) : null;
  });

const MAX_NAMES = 100_001;
const TOGETHER = 64;

const listFolderEntries = (root: string, parts: string[]): Promise<Listing> =>
  inFolder(root, [...parts, '.'].join('/'), async (at) => {
    const { names, odd } = await namesIn(at('.'));
    const entries: FolderEntry[] = [];
    for (let first = 0; first < names.length; first += TOGETHER) {
      const some = names.slice(first, first + TOGETHER);
      const stats = await Promise.all(some.map((name) => lstat(at(name)).catch(() => null)));
      for (const [index, name] of some.entries()) {
        const found = stats[index];
        if (found) entries.push(toFolderEntry([...parts, name].join('/'), found));
      }
    }
    const misnamed: MisnamedEntry[] = [];
    for (const name of odd) {
      const stats = await lstat(Buffer.concat([Buffer.from(`${at('.')}/`), name])).catch(
        () => null,
      );
      if (stats) misnamed.push(toFolderEntry([...parts, shown(name)].join('/'), stats));
    }
    return { entries, misnamed };
  });

interface Names {
  names: string[];
  odd: Buffer[];
}

const namesIn = async (folder: string): Promise<Names> => {
  const names: string[] = [];
  for await (const { name } of await opendir(folder, { bufferSize: 1024 })) {
    names.push(name);
    if (names.length === MAX_NAMES) break;
  }
  const isOdd = names.some((name) => name.includes('\uFFFD'));
  return isOdd ? exactNames(folder) : { names: names.sort(), odd: [] };
};

/** Separates names that are not UTF-8, which node returns with U+FFFD. */
const exactNames = async (folder: string): Promise<Names> => {
  const all = (await readdir(folder, { encoding: 'buffer' })).slice(0, MAX_NAMES);
  const isUtf8 = (name: Buffer): boolean => Buffer.from(name.toString()).equals(name);
  return {
    names: all.flatMap((name) => (isUtf8(name) ? [name.toString()] : [])).sort(),
    odd: all.filter((name) => !isUtf8(name)).sort(Buffer.compare),
  };
};

const shown = (name: Buffer): string =>
  name
    .toString('latin1')
    .replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`);

const toFolderEntry = (path: string, stats: Stats): FolderEntry => {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  const size = kind === 'file' ? stats.size : 0;
  const modifiedMs = Math.trunc(stats.mtimeMs);
  return {
    path,
    kind,
    size,
    modifiedMs,
    identity: formatFileIdentity(stats),
    stamp: formatChangeStamp(stats),
  };
};

/** The device number is left out, because it may change with a restart. */
export const formatChangeStamp = ({ ino, ctimeMs }: Pick<Stats, 'ino' | 'ctimeMs'>): string =>
  `${ino}:${ctimeMs}`;

export const formatFileIdentity = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string =>
  `${dev}:${ino}`;

const splitConfinedPath = (path: string): string[] => {
  if (path.includes('\0'))
    throw new ConfinedPathError('The path', 'must not contain a NUL character');
  if (path.startsWith('/')) throw new ConfinedPathError(path, 'must be relative to the folder');
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw new ConfinedPathError(path, 'must not contain ".."');
  return parts;
};

/**
 * Opens each parent folder in turn and works relative to the last one. On Linux neither moved
 * folders nor new links can lead elsewhere. Other systems have no path through an open folder, so
 * only existing links are refused.
 */
const inFolder = async <T>(
  root: string,
  path: string,
  work: (at: (name: string) => string, name: string) => Promise<T>,
  { makes = false } = {},
): Promise<T> => {
  const parts = splitConfinedPath(path);
  const isFolder = path.endsWith('/.') || path === '.';
  const name = isFolder ? '.' : parts.pop();
  if (name === undefined) throw new ConfinedPathError(path, 'is a folder');
  let folder = { handle: await open(root, O_RDONLY | O_DIRECTORY), path: root };
  try {
    for (const part of parts) {
      const next = createPathResolver(folder)(part);
      if (makes) await mkdir(next, { mode: 0o700 }).catch(ignoreExisting);
      const handle = await open(next, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await folder.handle.close();
      folder = { handle, path: join(folder.path, part) };
    }
    return await work(createPathResolver(folder), name);
  } catch (error) {
    throw pathError(error, path.replace(/\/?\.$/, ''));
  } finally {
    await folder.handle.close();
  }
};

const createPathResolver =
  ({ handle, path }: { handle: FileHandle; path: string }) =>
  (name: string): string =>
    process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name);

const unlessMissing = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw error;
};

const ignoreExisting = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EEXIST') throw error;
};

const sentences: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'has a parent that is not a folder',
  EISDIR: 'is a folder',
  ELOOP: 'is a symbolic link',
  ENXIO: 'is not a regular file',
  EACCES: 'is not accessible',
  EPERM: 'is not accessible',
  ENAMETOOLONG: 'has a name that is too long',
};

const pathError = (error: unknown, path: string): unknown => {
  const sentence = sentences[errorCode(error)];
  return sentence === undefined ? error : new ConfinedPathError(path, sentence);
};
