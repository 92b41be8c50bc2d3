import Boom from '@hapi/boom';
import { orNotFound, resource } from '../kernel/route.js';
import { type KnowledgeFolderRow, knowledgeFolderTable } from '../store/tables/folders.js';
import { viewer } from '../store/view.js';
import { folders, KnowledgeFolder } from './contract.js';
import type { FoldersDeps } from './service.js';

const view = viewer(knowledgeFolderTable, KnowledgeFolder, {});

const SHOWN_FAILURES = 50;

export const foldersResource = (deps: FoldersDeps, changed: () => void) => {
  const { folders: rows, scans, watcher, inTurn } = deps;

  const find = async (userId: string, id: string): Promise<KnowledgeFolderRow> =>
    orNotFound(await rows.get(userId, id), 'No folder with that id');

  return resource('folders', folders, {
    list: async ({ query }, { userId }) => {
      const page = await rows.list(userId, query);
      return { folders: page.rows.map(view), nextCursor: page.nextCursor };
    },
    get: async ({ id }, { userId }) => {
      const row = await find(userId, id);
      const [files, failures] = await Promise.all([
        rows.counts(userId, id),
        rows.failures(userId, id, SHOWN_FAILURES),
      ]);
      return {
        ...view(row),
        files,
        failures: failures.map(({ path, error }) => ({ path, error: error ?? UNSUPPORTED_TYPE })),
      };
    },
    delete: async ({ id }, { userId }) => {
      const row = await find(userId, id);
      await watcher.remove(id);
      await scans.cancel(userId, row.operation_id).catch(orEnded);
      await inTurn(id, () => rows.delete(userId, id));
      changed();
    },
  });
};

const UNSUPPORTED_TYPE = 'The file type is not supported';

/** Ignores that the operation has already ended or was pruned. */
const orEnded = (error: unknown): void => {
  if (!Boom.isBoom(error)) throw error;
};
