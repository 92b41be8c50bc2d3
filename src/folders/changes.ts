import type { Log } from '../kernel/log.js';
import type { OperationBeginner } from '../operations/module.js';
import type { Store } from '../store/store.js';
import type { KnowledgeFolderRow } from '../store/tables/folders.js';
import { visibleTo } from '../store/visible.js';
import type { FolderAdmission } from './admission.js';
import type { FoldersStore } from './queries.js';

export interface FolderOwner {
  id: string;
  userId: string;
}

/** Starts scans after changes. At most one scan waits while another runs. */
export interface ChangeScans {
  changed(folder: FolderOwner): Promise<void>;
  during<T>(folder: FolderOwner, scan: () => Promise<T>): Promise<T>;
  stop(): void;
}

interface ChangeScansDeps {
  store: Store;
  log: Log;
  folders: FoldersStore;
  admission: FolderAdmission;
  scans(): OperationBeginner<FolderInput>;
  unwatch(folderId: string): Promise<void>;
}

export const createChangeScans = (deps: ChangeScansDeps): ChangeScans => {
  const { store, log, folders, admission } = deps;
  const running = new Set<string>();
  const changedMeanwhile = new Set<string>();
  let isStopped = false;

  const isQueued = async (userId: string, operationId: string): Promise<boolean> => {
    const found = store.db
      .selectFrom('operations')
      .select('status')
      .where(visibleTo(userId))
      .where('id', '=', operationId);
    return (await found.executeTakeFirst())?.status === 'queued';
  };

  const changed = async ({ id, userId }: FolderOwner): Promise<void> => {
    const folder = await folders.get(userId, id);
    if (!folder || isStopped || (await isQueued(userId, folder.operation_id))) return;
    if (running.has(id)) return void changedMeanwhile.add(id);
    const place = await admission.admit(userId, folder.path);
    if (typeof place === 'string') {
      await deps.unwatch(id);
      await store.transact([folders.change(id, { error: place })]);
      return;
    }
    await deps
      .scans()
      .begin(scanRequest(folder), (begun) => [folders.change(id, { operation_id: begun.id })]);
  };

  return {
    changed,
    during: async (folder, scan) => {
      running.add(folder.id);
      try {
        return await scan();
      } finally {
        running.delete(folder.id);
        if (changedMeanwhile.delete(folder.id)) {
          changed(folder).catch((error) => {
            log.warn(
              { folderId: folder.id, error: String(error) },
              'folder scan could not be started',
            );
          });
        }
      }
    },
    stop: () => {
      isStopped = true;
    },
  };
};

export interface FolderInput {
  folderId: string;
}

export const scanRequest = ({
  id,
  user_id,
  path,
}: Pick<KnowledgeFolderRow, 'id' | 'user_id' | 'path'>) => ({
  userId: user_id,
  resource: { kind: 'folder', id },
  title: `Scan of ${path}`.slice(0, 200),
  input: { folderId: id },
  progress: { total: null, unit: 'files' },
});
