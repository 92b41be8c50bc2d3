import { basename } from 'node:path';
import type { FSWatcher } from 'chokidar';
import type { Log } from '../kernel/log.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import type { FolderOwner } from './changes.js';
import { nameDots } from './walk.js';

/** Has folders scanned when something changes in them. */
export interface FolderWatcher {
  /** Watches a folder from now on. */
  add(folder: KnowledgeFolderRow): Promise<void>;
  remove(folderId: string): Promise<void>;
  /** Scans the folders that cannot be watched, from time to time. */
  poll: Watch;
  stop(): Promise<void>;
}

interface WatcherDeps {
  log: Log;
  /** The pause after the last change, in milliseconds, until it is scanned. */
  settleMs: number;
  /** Has a folder scanned. */
  changed(folder: FolderOwner): Promise<void>;
}

interface Watched {
  files: FSWatcher;
  timer: NodeJS.Timeout | undefined;
  userId: string;
  /** True if the system does not tell of all changes. */
  isBlind: boolean;
}

/** Ours: a folder that cannot be watched is scanned this often. */
const POLL_MS = 10 * 60_000;

export const createFolderWatcher = ({ log, settleMs, changed }: WatcherDeps): FolderWatcher => {
  const watched = new Map<string, Watched>();

  const touched = (id: string): void => {
    const one = watched.get(id);
    if (!one) return;
    clearTimeout(one.timer);
    one.timer = setTimeout(() => {
      changed({ id, userId: one.userId }).catch((error) => {
        log.warn({ folderId: id, error: String(error) }, 'a folder was not scanned');
      });
    }, settleMs).unref();
  };

  const remove = async (id: string): Promise<void> => {
    const one = watched.get(id);
    watched.delete(id);
    clearTimeout(one?.timer);
    await one?.files.close();
  };

  return {
    add: async ({ id, user_id: userId, path, type, patterns }) => {
      await remove(id);
      // It is not needed where nothing is watched.
      const { watch } = await import('chokidar');
      const hasDots = type === 'file' || nameDots(JSON.parse(patterns));
      const ignored = (one: string): boolean =>
        !hasDots && one !== path && basename(one).startsWith('.');
      const files = watch(path, { ignoreInitial: true, followSymlinks: false, ignored });
      watched.set(id, { files, timer: undefined, userId, isBlind: false });
      files.on('all', () => touched(id));
      files.on('error', (error) => {
        const one = watched.get(id);
        if (!one || one.isBlind) return;
        one.isBlind = true;
        log.warn({ folderId: id, error: String(error) }, 'a folder is scanned every ten minutes');
      });
    },
    remove,
    poll: createWatch({
      everyMs: POLL_MS,
      afterMs: POLL_MS,
      look: async () => {
        for (const [id, { isBlind }] of watched) if (isBlind) touched(id);
      },
      failed: (error) => log.warn({ error: String(error) }, 'no folder was scanned'),
    }),
    stop: async () => {
      await Promise.all([...watched.keys()].map(remove));
    },
  };
};
