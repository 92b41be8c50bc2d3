import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { identityOf } from '../kernel/confinedpath.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import { nameDots } from './walk.js';

interface TreeWatchOptions {
  folder: KnowledgeFolderRow;
  /** The most folders that are watched. */
  mostWatched: number;
  /** True for a path in which nothing is watched. */
  isSecret(path: string): boolean;
  changed(): void;
  /** Is called when what was watched is gone, or another has taken its place that is not watched. */
  replaced(): void;
  /** Is called for each folder above the most. */
  tooMany(): void;
  failed(error: unknown): void;
  /** Is called once all that is there is watched. */
  ready(): void;
}

type OpenTree = (options: TreeWatchOptions) => FSWatcher;

/** Loads what watches a folder and those below it, which is not needed where nothing is watched. */
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
    // The system tells of the files of a watched folder, which are not watched themselves.
    const takesDots = hasDots(folder);
    files.on('raw', (_, name) => {
      if (takesDots || !basename(name ?? '').startsWith('.')) changed();
    });
    files.on('error', options.failed);
    files.on('ready', options.ready);
    return files;
  };
};

/** Returns what tells a file or a folder from all that are later at its path; null: nothing is there. */
export const presenceAt = (path: string): Promise<string | null> =>
  stat(path).then(presenceOf, () => null);

/** A file system gives the number of a folder that is gone to the next one, which has another birth. */
const presenceOf = (stats: Stats): string => `${identityOf(stats)}:${stats.birthtimeMs}`;

const hasDots = ({ type, patterns }: KnowledgeFolderRow): boolean =>
  type === 'file' || nameDots(JSON.parse(patterns));

/**
 * Returns what is true for a path that is not watched: a file, or what is not read. Those that are
 * watched are added to the folders, and compared with what was there before: a folder whose parent is
 * read anew is not watched anew.
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
      const presence = presenceOf(stats);
      if ((folders.get(path) ?? presence) !== presence) replaced();
      folders.set(path, presence);
    }
    if (folders.size <= mostWatched) return false;
    tooMany();
    return true;
  };
};
