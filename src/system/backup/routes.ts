import Boom from '@hapi/boom';
import { orNotFound, resource } from '../../kernel/route.js';
import { type BackupRow, backupTable } from '../../store/tables/backups.js';
import { viewer } from '../../store/view.js';
import { BackupRefused, type Backups } from './backups.js';
import { BackupView, backups } from './contract.js';

export const backupsResource = ({ rows, step, settled, ...verbs }: Backups) => {
  const view = (row: BackupRow): BackupView => viewBackup({ ...row, progress: step(row.id) });
  const find = async (id: string): Promise<BackupRow> => {
    return orNotFound(await rows.find(id), 'No backup with that id');
  };

  return resource('backups', backups, {
    list: async ({ query }) => {
      const { rows: found, nextCursor } = await rows.list(query);
      return { backups: found.map(view), nextCursor, schedule: await verbs.timetable() };
    },
    create: async ({ body }, by) => {
      const recorded = by.record({ data: { folder: body.folder ?? null } });
      return view(await translated(verbs.create(body, [recorded])));
    },
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

type BackupInProgress = BackupRow & Pick<BackupView, 'progress'>;

const viewBackup = viewer(backupTable, BackupView, {
  progress: ({ progress }: BackupInProgress) => progress,
  made: (row) => reportIf('create', row),
  proved: (row) => reportIf('verify', row),
});

const reportIf = (of: BackupRow['kind'], { kind, report }: BackupRow) =>
  kind === of && report !== null ? JSON.parse(report) : null;
