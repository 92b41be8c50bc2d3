import { basename } from 'node:path';
import {
  type FolderEntry,
  listInside,
  type MisnamedEntry,
  NotInside,
  statInside,
} from '../kernel/confinedpath.js';
import { TaskOverran } from '../kernel/pool.js';
import { inThread } from '../kernel/threadtask.js';
import type { MatchTask } from './matchthread.js';
import type { RootedPath } from './roots.js';

/** The files of a folder that are to be read. */
export interface WalkedFiles {
  /** With paths relative to the folder. */
  files: FolderEntry[];
  /** The folders that could not be read, relative to the folder. What is known of them stays. */
  unread: string[];
  /** The files and folders that are not read because of their names, relative to the folder. */
  misnamed: MisnamedEntry[];
}

/** The error of a folder that cannot be walked. */
export class WalkFailed extends Error {
  override name = 'WalkFailed';
}

/** A place where the daemon keeps its own files. */
export class OwnPlace extends WalkFailed {
  override name = 'OwnPlace';
}

interface FolderWalk {
  place: RootedPath;
  type: 'file' | 'directory';
  patterns: string[];
  /** The identities of folders that are never read. */
  forbidden: ReadonlySet<string>;
  signal: AbortSignal;
}

const MATCH_THREAD = new URL('./matchthread.js', import.meta.url);
const MATCH_LIMIT_MS = 5000;
/** Ours: the most files and folders below one folder. */
const MOST = 100_000;
const MAX_FOLDERS = 20_000;
const DEEPEST = 100;
const LISTED = { levels: 1, most: MOST + 1 };

/**
 * Lists the files of a folder that fit the patterns. Links are not followed, and names that begin
 * with a dot are left out unless a pattern names one. Throws WalkFailed.
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

/** True if one of the patterns names files or folders that begin with a dot. */
export const nameDots = (patterns: string[]): boolean =>
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
 * Refuses a file or a folder that lies in one that is never read, however its path is spelled. Returns
 * false if it, or a folder that it lies in, is not there. Throws OwnPlace, or WalkFailed if the path
 * cannot be followed.
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
      throw new OwnPlace(`/${path} cannot be indexed because it contains files of the daemon`);
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
  const hasDots = nameDots(patterns);
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
        const isDeep = entry.path.split('/').length > top + DEEPEST;
        if (isDeep) walked.unread.push(pathBelow(below, entry.path));
        else waiting.push(entry.path);
      }
      if (entry.kind !== 'file') continue;
      walked.files.push({ ...entry, path: pathBelow(below, entry.path) });
    }
    if (walked.files.length > MOST)
      throw new WalkFailed(`The folder contains more than ${MOST} files`);
    if (folders > MAX_FOLDERS)
      throw new WalkFailed(`The folder contains more than ${MAX_FOLDERS} folders`);
  }
  return walked;
};

const pathBelow = (folder: string, path: string): string =>
  folder === '' ? path : path.slice(folder.length + 1);

const listed = (root: string, folder: string): ReturnType<typeof listInside> =>
  reading(folder, () => listInside(root, folder, LISTED));

/** Turns the errors of looking at a path into WalkFailed. */
const reading = async <T>(path: string, look: () => Promise<T>): Promise<T> => {
  try {
    return await look();
  } catch (error) {
    if (error instanceof NotInside) throw new WalkFailed(`/${error.message}`);
    if (error instanceof Error && 'code' in error) {
      throw new WalkFailed(`/${path} cannot be read: ${error.message}`);
    }
    throw error;
  }
};

/** Returns the places of the paths that fit. It works in a thread: a pattern may take for ever. */
const matching = async ({ patterns, signal }: FolderWalk, paths: string[]): Promise<number[]> => {
  if (patterns.length === 0) return [...paths.keys()];
  const input: MatchTask = { patterns, paths };
  const failure = 'The patterns are too complex';
  const task = { file: MATCH_THREAD, input, limitMs: MATCH_LIMIT_MS, heapMb: 256, signal, failure };
  try {
    return await inThread<number[]>(task);
  } catch (error) {
    if (error instanceof TaskOverran) throw new WalkFailed(failure);
    throw error;
  }
};
