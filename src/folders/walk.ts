import { basename } from 'node:path';
import {
  ConfinedPathError,
  type FolderEntry,
  listInside,
  type MisnamedEntry,
  statInside,
} from '../kernel/confinedpath.js';
import { TaskLimitExceeded } from '../kernel/pool.js';
import { inThread } from '../kernel/threadtask.js';
import type { MatchTask } from './matchthread.js';
import type { RootedPath } from './roots.js';

export interface WalkedFiles {
  files: FolderEntry[];
  /** Folders that could not be read. Their entries are kept. */
  unread: string[];
  misnamed: MisnamedEntry[];
}

export class WalkFailed extends Error {
  override name = 'WalkFailed';
}

export class DaemonFolderError extends WalkFailed {
  override name = 'DaemonFolderError';
}

interface FolderWalk {
  place: RootedPath;
  type: 'file' | 'directory';
  patterns: string[];
  forbidden: ReadonlySet<string>;
  signal: AbortSignal;
}

const MATCH_THREAD = new URL('./matchthread.js', import.meta.url);
const MATCH_LIMIT_MS = 5000;
const MAX_FILES = 100_000;
const MAX_FOLDERS = 20_000;
const MAX_DEPTH = 100;
const LISTED = { levels: 1, most: MAX_FILES + 1 };

/**
 * Lists matching files. Symbolic links are not followed. Names with a leading dot are skipped
 * unless a pattern names one. Throws WalkFailed.
 */
export const walkFolder = async (walk: FolderWalk): Promise<WalkedFiles> => {
  const { place, type, forbidden } = walk;
  const isThere = await refuseForbidden(place, forbidden);
  if (type === 'file') return isThere ? oneFile(place) : NO_FILES;
  const found = await allFiles(walk);
  const { files, unread, misnamed } = found;
  const places = new Set(
    await matching(
      walk,
      [...files, ...misnamed].map(({ path }) => path),
    ),
  );
  return {
    files: files.filter((_, at) => places.has(at)),
    unread,
    misnamed: misnamed.filter(({ kind }, at) => kind === 'folder' || places.has(files.length + at)),
  };
};

export const hasDotPattern = (patterns: string[]): boolean =>
  patterns.some((pattern) => /(^!?|[/{,(|])\.[^./]/.test(pattern));

const NO_FILES: WalkedFiles = { files: [], unread: [], misnamed: [] };

const oneFile = async ({ root, below }: RootedPath): Promise<WalkedFiles> => {
  const file = await reading(below, () => statInside(root, below));
  const isThere = file?.kind === 'file';
  return {
    files: isThere ? [{ ...file, path: basename(below) }] : [],
    unread: [],
    misnamed: [],
  };
};

/**
 * Throws DaemonFolderError if a path is inside a forbidden folder, however it is spelled, and WalkFailed if
 * it cannot be followed. Returns false if it does not exist.
 */
export const refuseForbidden = async (
  { root, below }: RootedPath,
  forbidden: ReadonlySet<string>,
): Promise<boolean> => {
  const parts = below.split('/').filter((part) => part !== '');
  for (let depth = 1; depth <= parts.length; depth++) {
    const path = parts.slice(0, depth).join('/');
    const entry = await reading(path, () => statInside(root, path));
    if (!entry) return false;
    if (forbidden.has(entry.identity))
      throw new DaemonFolderError(
        `/${path} cannot be indexed because it contains files of the daemon. Choose another folder`,
      );
  }
  return true;
};

const allFiles = async ({
  place,
  patterns,
  forbidden,
  signal,
}: FolderWalk): Promise<WalkedFiles> => {
  const { root, below } = place;
  const hasDots = hasDotPattern(patterns);
  const top = below.split('/').length;
  const walked: WalkedFiles = { files: [], unread: [], misnamed: [] };
  const waiting = [below];
  for (let folders = 0; waiting.length > 0; folders++) {
    signal.throwIfAborted();
    const folder = waiting.pop() ?? below;
    const { entries, misnamed } = await listed(root, folder).catch((error: unknown) => {
      if (folder === below || !(error instanceof WalkFailed)) throw error;
      walked.unread.push(pathBelow(below, folder));
      return { entries: [], misnamed: [] };
    });
    for (const { path, kind } of misnamed) {
      if (kind === 'other' || (!hasDots && basename(path).startsWith('.'))) continue;
      walked.misnamed.push({ path: pathBelow(below, path), kind });
    }
    for (const entry of entries) {
      if (!hasDots && basename(entry.path).startsWith('.')) continue;
      if (forbidden.has(entry.identity)) continue;
      if (entry.kind === 'folder') {
        const isDeep = entry.path.split('/').length > top + MAX_DEPTH;
        if (isDeep) walked.unread.push(pathBelow(below, entry.path));
        else waiting.push(entry.path);
      }
      if (entry.kind !== 'file') continue;
      walked.files.push({ ...entry, path: pathBelow(below, entry.path) });
    }
    if (walked.files.length > MAX_FILES)
      throw new WalkFailed(
        `The folder contains more than ${MAX_FILES} files. Index smaller folders instead`,
      );
    if (folders > MAX_FOLDERS)
      throw new WalkFailed(
        `The folder contains more than ${MAX_FOLDERS} folders. Index smaller folders instead`,
      );
  }
  return walked;
};

const pathBelow = (folder: string, path: string): string =>
  folder === '' ? path : path.slice(folder.length + 1);

const listed = (root: string, folder: string): ReturnType<typeof listInside> =>
  reading(folder, () => listInside(root, folder, LISTED));

const reading = async <T>(path: string, look: () => Promise<T>): Promise<T> => {
  try {
    return await look();
  } catch (error) {
    if (error instanceof ConfinedPathError) throw new WalkFailed(`/${error.message}`);
    if (error instanceof Error && 'code' in error) {
      throw new WalkFailed(
        `The path /${path} on the machine of the daemon cannot be read: ${error.message}`,
      );
    }
    throw error;
  }
};

/** Matching runs in a thread, because a pattern may take very long. */
const matching = async ({ patterns, signal }: FolderWalk, paths: string[]): Promise<number[]> => {
  if (patterns.length === 0) return [...paths.keys()];
  const input: MatchTask = { patterns, paths };
  const failure = 'The patterns are too complex';
  const task = { file: MATCH_THREAD, input, limitMs: MATCH_LIMIT_MS, heapMb: 256, signal, failure };
  try {
    return await inThread<number[]>(task);
  } catch (error) {
    if (error instanceof TaskLimitExceeded) throw new WalkFailed(failure);
    throw error;
  }
};
