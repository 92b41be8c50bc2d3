import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Base } from '../../base.js';
import type { Config } from '../../config.js';
import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Outbox } from '../../outbound/module.js';
import type { Migration, TransactionStep as StoreStep } from '../../store/engine/protocol.js';
import type { BackupRow } from '../../store/tables/backups.js';
import { version } from '../../version.js';
import type { BackupProgress } from './contract.js';
import { Cancelled } from './progress.js';
import { type BackupRows, backupRows } from './rows.js';
import { createBackupSchedule } from './schedule.js';
import { type BackupSettings, backupSettings } from './settings.js';
import { type BackupTask, type BackupWork, BackupWorkFailed, startWork } from './work.js';

export interface BackupDeps {
  outbox: Outbox;
  config: Config;
  migrations: Migration[];
  /** Copies, the newest first. */
  masterKeys(): Buffer[];
}

/** The message is for the admin. */
export class BackupRefused extends Error {
  constructor(
    message: string,
    readonly code: 'backup_running' | 'passphrase_missing' | 'backup_gone' | 'backup_ended',
  ) {
    super(message);
    this.name = 'BackupRefused';
  }
}

export interface BackupRequest {
  passphrase?: string;
  /** Absolute path. Defaults to the configured folder. */
  folder?: string;
  /** True to leave out the originals of documents. */
  withoutDocuments?: boolean;
  cause?: BackupRow['cause'];
}

interface CurrentBackup {
  id: string;
  work: BackupWork<object> | null;
  ended: Promise<void>;
}

/** Runs one backup or verification at a time, in its own thread. */
export const createBackups = (base: Base, deps: BackupDeps) => {
  const { store, home, clock } = base;
  const settings = backupSettings(deps.config);
  const rows = backupRows(store);
  let current: CurrentBackup | null = null;
  let isStopping = false;

  const run = async (row: BackupRow, task: BackupTask, also: StoreStep[]): Promise<BackupRow> => {
    if (current)
      throw new BackupRefused(
        'Another backup or verification is running. Wait until it has ended',
        'backup_running',
      );
    const mine: CurrentBackup = { id: row.id, work: null, ended: Promise.resolve() };
    current = mine;
    try {
      await rows.insert(row, also);
    } catch (error) {
      current = null;
      throw error;
    }
    const work: BackupWork<object> = startWork(task);
    mine.work = work;
    const following = follow(base, deps, { rows, row, work, isStopping: () => isStopping });
    mine.ended = following.then(schedule.prune).finally(() => {
      current = null;
    });
    return row;
  };

  const passphraseOf = ({ passphrase }: { passphrase?: string }): string => {
    const found = passphrase ?? settings.passphrase;
    if (found) return found;
    const message = 'A passphrase is required. Send passphrase, or set ADJUTANT_BACKUP_PASSPHRASE';
    throw new BackupRefused(message, 'passphrase_missing');
  };

  const create = async (request: BackupRequest, also: StoreStep[]): Promise<BackupRow> => {
    const row = newRow(base, settings, request);
    const { file, created_at: at } = row;
    const keys = { passphrase: passphraseOf(request), masterKeys: deps.masterKeys() };
    const { withoutDocuments = false } = request;
    const of = { kind: 'create', home, file, at, version, settings: settings.given } as const;
    return run(row, { ...of, ...keys, withoutDocuments }, also);
  };

  const scheduled = (): Promise<BackupRow> => create({ cause: 'scheduled' }, []);
  const schedule = createBackupSchedule(base, { rows, settings, create: scheduled });

  return {
    rows,
    /** `create` and `verify` throw BackupRefused. `also` is committed with the row. */
    create,
    verify: async (
      { id, ...request }: { id?: string; passphrase?: string },
      also: StoreStep[],
    ): Promise<BackupRow> => {
      const found = id === undefined ? await rows.newestDone() : await rows.find(id);
      if (found?.kind !== 'create' || !existsSync(found.file)) {
        throw new BackupRefused(
          'There is no such backup, or the file of the backup is missing. Choose another backup or create one',
          'backup_gone',
        );
      }
      const row = { ...newRow(base, settings, {}), kind: 'verify' as const, file: found.file };
      const { migrations } = deps;
      const schemas = migrations.map(({ version }) => version);
      const of = { kind: 'verify', file: found.file, migrations, schemas } as const;
      return run(row, { ...of, passphrase: passphraseOf(request) }, also);
    },
    /** Resolves once the temporary files are removed. Throws BackupRefused if the backup is not running. */
    cancel: async (id: string, also: StoreStep[]): Promise<void> => {
      const mine = current;
      if (mine?.id !== id)
        throw new BackupRefused('The backup or verification has already ended', 'backup_ended');
      await store.transact(also);
      mine.work?.cancel();
      await mine.ended;
    },
    settled: async (id: string, ms: number): Promise<void> => {
      if (current?.id === id)
        await Promise.race([current.ended, clock.wait(ms, undefined, { ref: false })]);
    },
    /** Null if the backup is not running or has not reported progress yet. */
    step: (id: string): BackupProgress | null =>
      current?.id === id ? (current.work?.step() ?? null) : null,
    timetable: schedule.timetable,
    source: schedule.source,
    /** Ends what an earlier daemon had begun, and deletes surplus files of the schedule. */
    start: async (): Promise<void> => {
      await endInterrupted(base, rows);
      await schedule.prune();
    },
    stop: async (): Promise<void> => {
      isStopping = true;
      current?.work?.cancel();
      await current?.ended;
    },
  };
};

export type Backups = ReturnType<typeof createBackups>;

const newRow = (
  { clock }: Base,
  settings: BackupSettings,
  { folder, cause = 'asked' }: BackupRequest,
): BackupRow => {
  const now = clock.now();
  const stamp = iso(now).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return {
    id: mint('backup', now),
    kind: 'create',
    cause,
    status: 'running',
    file: unusedPath(join(folder ?? settings.folder, `adjutant-${stamp}`), '.tar'),
    report: null,
    error: null,
    created_at: iso(now),
    finished_at: null,
    removed_at: null,
  };
};

/** Two backups may begin within a second. */
const unusedPath = (path: string, extension: string): string => {
  let unused = path + extension;
  for (let n = 2; existsSync(unused); n++) unused = `${path}-${n}${extension}`;
  return unused;
};

interface FollowedWork {
  rows: BackupRows;
  row: BackupRow;
  work: BackupWork<object>;
  isStopping(): boolean;
}

const follow = async (
  { clock, log }: Base,
  deps: BackupDeps,
  { rows, row, work, isStopping }: FollowedWork,
) => {
  const keys = deps.masterKeys();
  const ended = (status: BackupRow['status'], rest: Partial<BackupRow> = {}) => ({
    status,
    ...rest,
    finished_at: iso(clock.now()),
  });
  const outcome = async (): Promise<Partial<BackupRow>> => {
    try {
      const report = await work.done;
      if (row.kind === 'create' && !isSame(keys, deps.masterKeys())) {
        await rm(row.file, { force: true });
        return ended('failed', {
          error: 'The master key was changed during the backup. Create the backup again',
        });
      }
      return ended('done', { report: JSON.stringify(report) });
    } catch (error) {
      if (error instanceof Cancelled) return ended(isStopping() ? 'interrupted' : 'cancelled');
      const isInternal = !(error instanceof BackupWorkFailed) || error.reason === 'Broken';
      if (isInternal) log.error({ err: error, backup: row.id }, 'a backup failed unexpectedly');
      const message = isInternal ? 'Internal error. See the log of the daemon' : error.message;
      return ended('failed', { error: message });
    }
  };
  const end = await outcome();
  await rows.update(row.id, end).catch((err) => {
    log.error({ err, backup: row.id }, 'the result of a backup could not be stored');
  });
  if (end.status === 'failed' && row.cause === 'scheduled') {
    await tellAdmins(deps, rows, end.error).catch((err) => {
      log.error({ err }, 'the admins could not be notified of a failed backup');
    });
  }
};

const isSame = (a: Buffer[], b: Buffer[]): boolean =>
  a.length === b.length && a.every((key, at) => key.equals(b[at] ?? Buffer.alloc(0)));

const tellAdmins = async ({ outbox }: BackupDeps, rows: BackupRows, error?: string | null) => {
  const body = `${error}. The next backup runs as scheduled. List the backups: adjutant backup list`;
  const kind = 'backup_failed' as const;
  for (const { id } of await rows.admins()) {
    await outbox.send(id, { kind, title: 'A backup failed', body, link: null });
  }
};

/**
 * The files of an interrupted backup are incomplete. A complete one is not verified against a change
 * of the master key, and no schedule would delete it.
 */
const endInterrupted = async ({ clock }: Base, rows: BackupRows): Promise<void> => {
  for (const { id, kind, file } of await rows.running()) {
    const left = kind === 'create' ? PARTS.map((part) => `${file}${part}`) : [];
    if (kind === 'create' && !(await rows.isDone(file))) left.push(file);
    for (const path of left) await rm(path, { force: true });
    await rows.update(id, { status: 'interrupted', finished_at: iso(clock.now()) });
  }
};

const PARTS = ['.part', '.part.db', '.part.db-journal', '.part.db-wal', '.part.db-shm'];
