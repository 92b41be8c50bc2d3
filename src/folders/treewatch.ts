import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { formatFileIdentity } from '../kernel/confinedpath.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import { hasDotPattern } from './walk.js';

interface TreeWatchOptions {
  folder: KnowledgeFolderRow;
  mostWatched: number;
  isSecret(path: string): boolean;
  changed(): void;
  /** Called if the watched folder is gone or was replaced. */
  replaced(): void;
  tooMany(): void;
  failed(error: unknown): void;
  ready(): void;
}

type OpenTree = (options: TreeWatchOptions) => FSWatcher;

/** Loaded on first use. */
export const loadTreeWatch = async (): Promise<OpenTree> => {
  const { watch } = await import('chokidar');
  return (options) => {
    const { folder, changed } = options;
    const folders = new Map<string, string>();
    const ignored = ignoredIn(options, folders);
    const files = watch(folder.path, { ignoreInitial: true, followSymlinks: false, ignored });
    files.on('all', (event, path) => {
      if (/^unlink/.test(event)) folders.delete(path);
      if (/^unlink/.test(event) && path === folder.path) options.replaced();
      changed();
    });
    // The system reports changes of files in a watched folder, so the files are not watched
    // themselves.
    const takesDots = hasDots(folder);
    files.on('raw', (_, name) => {
      if (takesDots || !basename(name ?? '').startsWith('.')) changed();
    });
    files.on('error', options.failed);
    files.on('ready', options.ready);
    return files;
  };
};

/**
 * Returns an identity of a file or folder that is never reused at its path, or null if nothing
 * exists.
 */
export const folderIdentityAt = (path: string): Promise<string | null> =>
  stat(path).then(formatPresenceKey, () => null);

/** File systems reuse the number of a deleted folder. The birth time differs. */
const formatPresenceKey = (stats: Stats): string =>
  `${formatFileIdentity(stats)}:${stats.birthtimeMs}`;

const hasDots = ({ type, patterns }: KnowledgeFolderRow): boolean =>
  type === 'file' || hasDotPattern(JSON.parse(patterns));

/**
 * Returns which paths are not watched: files, and folders that are not read. Watched folders are
 * compared with their earlier identity, because a folder whose parent is read again is not watched
 * again.
 */
const ignoredIn = (
  { folder, mostWatched, isSecret, tooMany, replaced }: TreeWatchOptions,
  folders: Map<string, string>,
): ((path: string, stats?: Stats) => boolean) => {
  const takesDots = hasDots(folder);
  return (path, stats) => {
    if (folder.type === 'directory' && stats && !stats.isDirectory()) return true;
    if (!takesDots && path !== folder.path && basename(path).startsWith('.')) return true;
    if (isSecret(path)) return true;
    if (stats) {
      const presence = formatPresenceKey(stats);
      if ((folders.get(path) ?? presence) !== presence) replaced();
      folders.set(path, presence);
    }
    if (folders.size <= mostWatched) return false;
    tooMany();
    return true;
  };
};
