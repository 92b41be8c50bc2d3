import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import { resource } from '../../kernel/route.js';
import type { BackupRow } from '../../store/tables/backups.js';
import { BackupRefused, type Backups } from './backups.js';
import { type BackupView, backups } from './contract.js';

export const backupsResource = (deps: { backups: Backups }) => {
  const { rows, step, settled, ...verbs } = deps.backups;
  const view = (row: BackupRow): BackupView => viewBackup(row, step(row.id));
  const find = async (id: string): Promise<BackupRow> => {
    const row = await rows.find(id);
    if (!row) throw Boom.notFound('No backup with that id');
    return row;
  };

  return resource('backups', backups, {
    list: async ({ query }) => {
      const page = await rows.list({ ...query, limit: query.limit ?? DEFAULT_LIMIT });
      const { rows: found, nextCursor } = page;
      return { backups: found.map(view), nextCursor, schedule: await verbs.timetable() };
    },
    create: async ({ body }, by) =>
      view(
        await translated(
          verbs.create(body, [by.record({ data: { folder: body.folder ?? null } })]),
        ),
      ),
    verify: async ({ body }, by) =>
      view(await translated(verbs.verify(body, [by.record({ target: body.id ?? 'newest' })]))),
    get: async ({ id, query }) => {
      await find(id);
      await settled(id, (query.wait ?? 0) * 1000);
      return view(await find(id));
    },
    cancel: async ({ id }, by) => {
      await find(id);
      await translated(verbs.cancel(id, [by.record()]));
      return view(await find(id));
    },
  });
};

const translated = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof BackupRefused)) throw error;
    const { message, code } = error;
    if (code === 'passphrase_missing') throw Boom.badRequest(message, { code });
    if (code === 'backup_gone') throw Boom.notFound(message, { code });
    throw Boom.conflict(message, { code });
  }
};

const viewBackup = (row: BackupRow, progress: BackupView['progress']): BackupView => {
  const report = row.report === null ? null : JSON.parse(row.report);
  return {
    id: row.id,
    kind: row.kind,
    cause: row.cause,
    status: row.status,
    file: row.file,
    progress,
    made: row.kind === 'create' ? report : null,
    proved: row.kind === 'verify' ? report : null,
    error: row.error,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    removedAt: row.removed_at,
  };
};
