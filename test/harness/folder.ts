import { mint } from '../../src/kernel/ids.js';
import { insertRow } from '../../src/store/rows.js';
import { knowledgeFolderTable } from '../../src/store/tables/folders.js';
import type { TestApp } from './app.js';

/** Folder of the machine that the user has indexed. Resolves to its id. */
export const seedFolder = async (
  { app }: TestApp,
  userId: string,
  { watch = 0 } = {},
): Promise<string> => {
  const now = Date.now();
  const id = mint('folder', now);
  const row = {
    ...{ id, user_id: userId, path: `/srv/${id}`, type: 'directory' as const },
    ...{ patterns: '[]', tags: '[]', watch, device: null, error: null },
    ...{ operation_id: mint('operation', now), created_at: new Date(now).toISOString() },
    scanned_at: null,
  };
  await app.store.transact([insertRow(knowledgeFolderTable, row)]);
  return id;
};
