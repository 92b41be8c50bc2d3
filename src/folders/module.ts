import type { Base } from '../base.js';
import type { Documents } from '../documents/module.js';
import { createFairQueue } from '../kernel/fairqueue.js';
import type { Resource } from '../kernel/route.js';
import type { Knowledge } from '../knowledge/module.js';
import type { Operations } from '../operations/module.js';
import type { PermissionsOf } from '../permissions/module.js';
import { createAdmission } from './admission.js';
import { createChangeScans } from './changes.js';
import { foldersStore } from './queries.js';
import { createRoots } from './roots.js';
import { foldersResource } from './routes.js';
import { scanOperation } from './scan.js';
import { type FoldersDeps, indexPath } from './service.js';
import { createFolderWatcher } from './watcher.js';

interface FoldersOptions {
  operations: Operations;
  knowledge: Pick<Knowledge, 'texts' | 'handle'>;
  serverFiles: Documents['serverFiles'];
  permissionsOf: PermissionsOf;
  settings: FoldersSettings;
}

interface FoldersSettings {
  /** Root folders, and the name of their setting. */
  roots: string[];
  variable: string;
  backupFolder: string | null;
  logins: string;
}

const UNLIMITED = { atOnce: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };
/** A change is read after this time without further changes, in milliseconds. */
const SETTLE_MS = 1000;
/** Each watched folder uses memory and one of the watches of the system. */
const MAX_WATCHED = 10_000;

export { isWatchFault } from './watcher.js';

export const openFolders = ({ store, clock, log, home }: Base, options: FoldersOptions) => {
  const { operations, knowledge, serverFiles, permissionsOf, settings } = options;
  const { variable } = settings;
  const folders = foldersStore(store);
  const roots = createRoots({ ...settings, home });
  const admission = createAdmission({ roots, variable, permissionsOf });
  const turns = createFairQueue({ ...UNLIMITED, each: 1 });
  const inTurn: FoldersDeps['inTurn'] = (of, work) => turns.take(of, work);
  const changes = createChangeScans({
    store,
    log,
    folders,
    admission,
    scans: () => scans,
    unwatch: (id) => watcher.remove(id),
  });
  const { texts } = knowledge;
  const files = serverFiles;
  const scans = operations.register(
    scanOperation({
      clock,
      folders,
      files,
      texts,
      admission,
      inTurn,
      changes,
      watcher: () => watcher,
    }),
  );
  const watcher = createFolderWatcher({
    clock,
    log,
    settleMs: SETTLE_MS,
    mostWatched: MAX_WATCHED,
    isSecret: roots.isSecret,
    changed: changes.changed,
    told: async (id, fault) => {
      await store.transact([folders.change(id, { error: fault })]);
    },
  });
  const deps: FoldersDeps = { clock, folders, admission, scans, watcher, inTurn };
  knowledge.handle({ path: (userId, request) => indexPath(deps, userId, request) });
  return {
    poll: watcher.poll,
    start: async (): Promise<void> => {
      for (const folder of await folders.watched()) {
        await watcher.add(folder);
        await changes.changed({ id: folder.id, userId: folder.user_id });
      }
    },
    stop: async (): Promise<void> => {
      changes.stop();
      await watcher.stop();
    },
    resources: (): Resource[] => [foldersResource(deps, texts.changed)],
  };
};
