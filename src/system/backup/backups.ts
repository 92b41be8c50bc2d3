import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Base } from '../../base.js';
import type { Config } from '../../config.js';
import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Outbox } from '../../outbound/module.js';
import type { Migration, TransactionStep as StoreStep } from '../../store/engine/protocol.js';
import type { BackupRow } from '../../store/tables/backups.js';
import { version } from '../../version.js';
import type { BackupProgress } from './contract.js';
import { type BackupRows, backupRows } from './rows.js';
import { createBackupSchedule } from './schedule.js';
import { type BackupSettings, backupSettings } from './settings.js';
import { type BackupWork, Cancelled, startWork, type Task, WorkFailed } from './work.js';

export interface BackupDeps {
  outbox: Outbox;
  config: Config;
  migrations: Migration[];
  /** Returns copies of the master keys, the newest first. */
  masterKeys(): Buffer[];
}

/**
 * The error for a backup or verification that does not begin, or cannot be cancelled. The message
 * is for the admin.
 */
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
  /** Absolute path; by default the folder in the settings. */
  folder?: string;
  /** True: the originals of documents are left out. */
  withoutDocuments?: boolean;
  cause?: BackupRow['cause'];
}

/** The backup or verification that runs. */
interface CurrentBackup {
  id: string;
  work: BackupWork<object> | null;
  ended: Promise<void>;
}

/** Makes and verifies backups of the daemon's home, one at a time, each in a thread of its own. */
export const createBackups = (base: Base, deps: BackupDeps) => {
  const { store, home } = base;
  const settings = backupSettings(deps.config);
  const rows = backupRows(store);
  let current: CurrentBackup | null = null;
  let isStopping = false;

  const run = async (row: BackupRow, task: Task, also: StoreStep[]): Promise<BackupRow> => {
    if (current) throw new BackupRefused('Another one is under way', 'backup_running');
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
    const message = 'A passphrase for the keys is missing, and none is set for all backups';
    throw new BackupRefused(message, 'passphrase_missing');
  };

  const create = async (asked: BackupRequest, also: StoreStep[]): Promise<BackupRow> => {
    const row = newRow(base, settings, asked);
    const { file, created_at: at } = row;
    const keys = { passphrase: passphraseOf(asked), masterKeys: deps.masterKeys() };
    const { withoutDocuments = false } = asked;
    const of = { kind: 'create', home, file, at, version, settings: settings.given } as const;
    return run(row, { ...of, ...keys, withoutDocuments }, also);
  };

  const scheduled = (): Promise<BackupRow> => create({ cause: 'scheduled' }, []);
  const schedule = createBackupSchedule(base, { rows, settings, create: scheduled });

  return {
    rows,
    /**
     * Begins a backup, as `verify` begins a verification. Both throw BackupRefused. `also` is
     * committed with the row; if that fails, nothing begins.
     */
    create,
    verify: async (
      { id, ...given }: { id?: string; passphrase?: string },
      also: StoreStep[],
    ): Promise<BackupRow> => {
      const found = id === undefined ? await rows.newestDone() : await rows.find(id);
      if (found?.kind !== 'create' || !existsSync(found.file)) {
        throw new BackupRefused('There is no such backup, or its file is gone', 'backup_gone');
      }
      const row = { ...newRow(base, settings, {}), kind: 'verify' as const, file: found.file };
      const { migrations } = deps;
      const schemas = migrations.map(({ version }) => version);
      const of = { kind: 'verify', file: found.file, migrations, schemas } as const;
      return run(row, { ...of, passphrase: passphraseOf(given) }, also);
    },
    /**
     * Resolves when the temporary files are removed. Throws BackupRefused if the backup does not
     * run.
     */
    cancel: async (id: string, also: StoreStep[]): Promise<void> => {
      const mine = current;
      if (mine?.id !== id) throw new BackupRefused('It has ended already', 'backup_ended');
      await store.transact(also);
      mine.work?.cancel();
      await mine.ended;
    },
    /** Waits at most `ms` for the running backup to end. */
    settled: async (id: string, ms: number): Promise<void> => {
      if (current?.id === id)
        await Promise.race([current.ended, wait(ms, undefined, { ref: false })]);
    },
    /** Returns null if the backup does not run, or has not reported progress yet. */
    step: (id: string): BackupProgress | null =>
      current?.id === id ? (current.work?.step() ?? null) : null,
    timetable: schedule.timetable,
    source: schedule.source,
    /** Ends what an earlier daemon had begun, and deletes files of the schedule beyond the newest. */
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
    file: join(folder ?? settings.folder, `adjutant-${stamp}.tar`),
    report: null,
    error: null,
    created_at: iso(now),
    finished_at: null,
    removed_at: null,
  };
};

interface FollowedWork {
  rows: BackupRows;
  row: BackupRow;
  work: BackupWork<object>;
  isStopping(): boolean;
}

/** Waits for the end and stores the outcome. */
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
        return ended('failed', { error: 'The master key was changed meanwhile: make it again' });
      }
      return ended('done', { report: JSON.stringify(report) });
    } catch (error) {
      if (error instanceof Cancelled) return ended(isStopping() ? 'interrupted' : 'cancelled');
      const isOurs = !(error instanceof WorkFailed) || error.reason === 'Broken';
      if (isOurs) log.error({ err: error, backup: row.id }, 'a backup broke');
      const message = isOurs ? 'It broke; the log says where' : error.message;
      return ended('failed', { error: message });
    }
  };
  const end = await outcome();
  await rows.update(row.id, end).catch((err) => {
    log.error({ err, backup: row.id }, 'the end of a backup could not be written');
  });
  if (end.status === 'failed' && row.cause === 'scheduled') {
    await tellAdmins(deps, rows, end.error).catch((err) => {
      log.error({ err }, 'nobody could be told that a backup failed');
    });
  }
};

const isSame = (a: Buffer[], b: Buffer[]): boolean =>
  a.length === b.length && a.every((key, at) => key.equals(b[at] ?? Buffer.alloc(0)));

const tellAdmins = async ({ outbox }: BackupDeps, rows: BackupRows, error?: string | null) => {
  const body = `${error}. The next one is tried at its time. Look: adjutant backup list`;
  const kind = 'backup_failed' as const;
  for (const { id } of await rows.admins()) {
    await outbox.send(id, { kind, title: 'A backup failed', body, link: null });
  }
};

/** Ends the backups that an earlier daemon had begun. Their files were never complete. */
const endInterrupted = async ({ clock }: Base, rows: BackupRows): Promise<void> => {
  for (const { id, kind, file } of await rows.running()) {
    const parts = kind === 'create' ? ['.part', '.part.db', '.part.db-journal'] : [];
    for (const part of parts) await rm(`${file}${part}`, { force: true });
    await rows.update(id, { status: 'interrupted', finished_at: iso(clock.now()) });
  }
};
