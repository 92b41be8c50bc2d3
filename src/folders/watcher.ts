import { relative } from 'node:path';
import type { FSWatcher } from 'chokidar';
import type { Cancel, Clock } from '../kernel/clock.js';
import { errorCode } from '../kernel/failure.js';
import type { Log } from '../kernel/log.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import type { FolderOwner } from './changes.js';
import { folderIdentityAt, loadTreeWatch } from './treewatch.js';

export interface FolderWatcher {
  add(folder: KnowledgeFolderRow): Promise<void>;
  remove(folderId: string): Promise<void>;
  /** Returns why a folder is scanned at intervals. `null` if it is watched. */
  faultOf(folderId: string): string | null;
  poll: Watch;
  stop(): Promise<void>;
}

interface WatcherDeps {
  clock: Clock;
  log: Log;
  /** Pause after the last change before a scan, in milliseconds. */
  settleMs: number;
  isSecret(path: string): boolean;
  changed(folder: FolderOwner): Promise<void>;
  mostWatched: number;
  loadWatch?: typeof loadTreeWatch;
  told(folderId: string, fault: string): Promise<void>;
}

interface Watched {
  folder: KnowledgeFolderRow;
  /** `null` if there is nothing to watch or too much. */
  files: FSWatcher | null;
  /** Identity of the folder when the watch was created. `null` if nothing existed. */
  presence: string | null;
  isStale: boolean;
  cancel: Cancel;
  since: number | null;
  /** Whether the system does not report all changes. */
  isBlind: boolean;
  fault: string | null;
}

/** The system does not report when a missing folder returns. */
const LOOK_MS = 3000;
/** Every ten minutes. */
const LOOKS_PER_POLL = 200;

const INTERVAL = 'The folder is scanned every ten minutes';
/** Linux limits per user, by error code (inotify(7)). */
const LIMITS = new Map([
  ['ENOSPC', 'the limit of watched folders is reached. Raise fs.inotify.max_user_watches'],
  ['EMFILE', 'the limit of watching programs is reached. Raise fs.inotify.max_user_instances'],
]);

export const isWatchFault = (fault: string): boolean => fault.startsWith(INTERVAL);

/** Maximum number of pauses for which changes delay a scan. */
const MAX_PAUSES = 10;

export const createFolderWatcher = (deps: WatcherDeps): FolderWatcher => {
  const { clock, log, settleMs, mostWatched, isSecret, changed } = deps;
  const watched = new Map<string, Watched>();
  let looks = 0;

  const isWatched = (one: Watched): boolean => watched.get(one.folder.id) === one;

  const touched = (one: Watched): void => {
    if (!isWatched(one)) return;
    one.cancel();
    const now = clock.now();
    one.since ??= now;
    const left = one.since + MAX_PAUSES * settleMs - now;
    const due = (): void => {
      one.since = null;
      scan(one).catch((error) => {
        log.warn(
          { folderId: one.folder.id, error: String(error) },
          'folder scan could not be started',
        );
      });
    };
    one.cancel = clock.after(Math.max(0, Math.min(settleMs, left)), due, { ref: false });
  };

  const scan = async (one: Watched): Promise<void> => {
    if (await isOutdated(one)) await renew(one);
    const { id, user_id: userId } = one.folder;
    if (isWatched(one)) await changed({ id, userId });
  };

  const stale = (one: Watched): void => {
    one.isStale = true;
    touched(one);
  };

  const blind = (one: Watched, error: unknown, fault: string | null): void => {
    const { id } = one.folder;
    if (!isWatched(one) || one.isBlind) return;
    one.isBlind = true;
    one.fault = fault;
    log.warn(
      { folderId: id, error: String(error) },
      'folder cannot be watched and is scanned every ten minutes',
    );
    if (fault === null) return;
    Promise.all([close(one), deps.told(id, fault)]).catch((failure) => {
      log.warn({ folderId: id, error: String(failure) }, 'folder fault could not be stored');
    });
  };

  /** Replaces watches. Nothing is watched in the meantime. */
  const open = async (all: Watched[], ready: (one: Watched) => void): Promise<void> => {
    const openTree = await (deps.loadWatch ?? loadTreeWatch)();
    const presences = await Promise.all(all.map(({ folder }) => folderIdentityAt(folder.path)));
    // Overlapping folders share watches of the system. A watch ends when all of them are closed.
    const closed = all.map(close);
    for (const [at, one] of all.entries()) {
      if (!isWatched(one)) continue;
      Object.assign(one, { presence: presences[at] ?? null, isStale: false, isBlind: false });
      if (one.presence !== null) one.files = openTree(treeOf(one, ready));
    }
    await Promise.all(closed);
  };

  const treeOf = (one: Watched, ready: (one: Watched) => void) => ({
    folder: one.folder,
    mostWatched,
    isSecret,
    changed: () => touched(one),
    replaced: () => stale(one),
    tooMany: () => {
      const fault = `${INTERVAL}: the folder contains more than ${mostWatched} folders`;
      blind(one, fault, fault);
    },
    failed: (error: unknown) => {
      const limit = LIMITS.get(errorCode(error));
      const fault = `${INTERVAL}: ${limit}`;
      blind(one, error, limit === undefined ? null : fault);
    },
    ready: () => ready(one),
  });

  /** Renews a watch and all that overlap it. Changes in the meantime are scanned. */
  const renew = (one: Watched): Promise<void> => {
    const all = [...watched.values()].filter(
      ({ folder, fault }) => fault === null && overlap(folder.path, one.folder.path),
    );
    return open(all, touched);
  };

  const remove = async (id: string): Promise<void> => {
    const one = watched.get(id);
    watched.delete(id);
    one?.cancel();
    if (one) await close(one);
  };

  return {
    add: async (folder) => {
      await remove(folder.id);
      const none = {
        files: null,
        presence: null,
        cancel: () => undefined,
        since: null,
        fault: null,
      };
      const one = { folder, ...none, isStale: true, isBlind: false };
      watched.set(folder.id, one);
      await open([one], () => undefined);
    },
    faultOf: (id) => watched.get(id)?.fault ?? null,
    remove,
    poll: createWatch({
      clock,
      everyMs: LOOK_MS,
      afterMs: LOOK_MS,
      look: async () => {
        const isDue = ++looks % LOOKS_PER_POLL === 0;
        for (const one of watched.values()) {
          if (one.isBlind && isDue) touched(one);
          if (!one.isStale && (await isOutdated(one))) stale(one);
        }
      },
      failed: (error) => log.warn({ error: String(error) }, 'folder scans failed'),
    }),
    stop: async () => {
      await Promise.all([...watched.keys()].map(remove));
    },
  };
};

const isOutdated = async ({ folder, isStale, presence, fault }: Watched): Promise<boolean> =>
  fault === null && (isStale || (await folderIdentityAt(folder.path)) !== presence);

const close = async (one: Watched): Promise<void> => {
  const { files } = one;
  one.files = null;
  await files?.close();
};

const overlap = (one: string, other: string): boolean =>
  [relative(one, other), relative(other, one)].some((path) => !/^\.\.(\/|$)/.test(path));
