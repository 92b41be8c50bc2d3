import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import type { Outbox } from '../../outbound/outbox.js';
import type { Migration, TransactionStep as StoreStep } from '../../store/engine/protocol.js';
import type { Store } from '../../store/store.js';
import type { BackupRow } from '../../store/tables/backups.js';
import { Cancelled } from './progress.js';
import { type BackupRows, backupRows, type End } from './rows.js';
import { createBackupSchedule, type Timetable } from './schedule.js';
import { type BackupProgress, type BackupWork, startWork, type Task, WorkFailed } from './work.js';

export interface BackupSettings {
  folder: string;
  /** Hours between two scheduled backups; 0 turns them off. */
  everyHours: number;
  keep: number;
  passphrase: string | null;
  /** Names of the settings that the daemon was given. */
  given: string[];
}

export interface BackupDeps {
  store: Store;
  clock: Clock;
  log: Log;
  outbox: Outbox;
  settings: { home: string; version: string; backup: BackupSettings };
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
  cause?: BackupRow['cause'];
}

/** Makes and verifies backups of the daemon's home, one at a time, each in a thread of its own. */
export interface Backups {
  rows: BackupRows;
  /**
   * Begins a backup, as `verify` begins a verification. Both throw BackupRefused. `also` is
   * committed with the row; if that fails, nothing begins.
   */
  create(asked: BackupRequest, also: StoreStep[]): Promise<BackupRow>;
  verify(of: { id?: string; passphrase?: string }, also: StoreStep[]): Promise<BackupRow>;
  /**
   * Resolves when the temporary files are removed. Throws BackupRefused if the backup does not run.
   */
  cancel(id: string, also: StoreStep[]): Promise<void>;
  /** Waits at most `ms` for the running backup to end. */
  settled(id: string, ms: number): Promise<void>;
  /** Returns null if the backup does not run, or has not reported progress yet. */
  step(id: string): BackupProgress | null;
  timetable(): Promise<Timetable>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The backup or verification that runs. */
interface Current {
  id: string;
  work: BackupWork<object> | null;
  ended: Promise<void>;
}

export const createBackups = (deps: BackupDeps): Backups => {
  const { store, settings } = deps;
  const rows = backupRows(store);
  let current: Current | null = null;
  let isStopping = false;

  const run = async (row: BackupRow, task: Task, also: StoreStep[]): Promise<BackupRow> => {
    if (current) throw new BackupRefused('Another one is under way', 'backup_running');
    const mine: Current = { id: row.id, work: null, ended: Promise.resolve() };
    current = mine;
    try {
      await rows.insert(row, also);
    } catch (error) {
      current = null;
      throw error;
    }
    const work: BackupWork<object> = startWork(task);
    mine.work = work;
    mine.ended = follow(deps, { rows, row, work, isStopping: () => isStopping }).finally(() => {
      current = null;
    });
    return row;
  };

  const passphraseOf = ({ passphrase }: { passphrase?: string }): string => {
    const found = passphrase ?? settings.backup.passphrase;
    if (found) return found;
    const message = 'A passphrase for the keys is missing, and none is set for all backups';
    throw new BackupRefused(message, 'passphrase_missing');
  };

  const create = async (asked: BackupRequest, also: StoreStep[]): Promise<BackupRow> => {
    const row = newRow(deps, asked);
    const { file, created_at: at } = row;
    const { home, version, backup } = settings;
    const keys = { passphrase: passphraseOf(asked), masterKeys: deps.masterKeys() };
    const of = { kind: 'create', home, file, at, version, settings: backup.given } as const;
    return run(row, { ...of, ...keys }, also);
  };

  const schedule = createBackupSchedule({
    ...{ ...deps, rows, settings: settings.backup },
    create: () => create({ cause: 'scheduled' }, []),
  });

  return {
    rows,
    create,
    verify: async ({ id, ...given }, also) => {
      const found = id === undefined ? await rows.newestDone() : await rows.find(id);
      if (found?.kind !== 'create' || !existsSync(found.file)) {
        throw new BackupRefused('There is no such backup, or its file is gone', 'backup_gone');
      }
      const row = { ...newRow(deps, {}), kind: 'verify' as const, file: found.file };
      const { migrations } = deps;
      const schemas = migrations.map(({ version }) => version);
      const of = { kind: 'verify', file: found.file, migrations, schemas } as const;
      return run(row, { ...of, passphrase: passphraseOf(given) }, also);
    },
    cancel: async (id, also) => {
      const mine = current;
      if (mine?.id !== id) throw new BackupRefused('It has ended already', 'backup_ended');
      await store.transact(also);
      mine.work?.cancel();
      await mine.ended;
    },
    settled: async (id, ms) => {
      if (current?.id === id)
        await Promise.race([current.ended, wait(ms, undefined, { ref: false })]);
    },
    step: (id) => (current?.id === id ? (current.work?.step() ?? null) : null),
    timetable: schedule.timetable,
    start: async () => {
      await endInterrupted(deps, rows);
      schedule.start();
    },
    stop: async () => {
      isStopping = true;
      const stopping = schedule.stop();
      current?.work?.cancel();
      await stopping;
      await current?.ended;
    },
  };
};

const newRow = (deps: BackupDeps, { folder, cause = 'asked' }: BackupRequest): BackupRow => {
  const now = deps.clock.now();
  const stamp = iso(now).slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return {
    id: mint('backup', now),
    kind: 'create',
    cause,
    status: 'running',
    file: join(folder ?? deps.settings.backup.folder, `adjutant-${stamp}.tar`),
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
const follow = async (deps: BackupDeps, { rows, row, work, isStopping }: FollowedWork) => {
  const { clock, log } = deps;
  const keys = deps.masterKeys();
  const ended = (status: End['status'], rest: Partial<End> = {}): End => {
    const at = iso(clock.now());
    return { status, report: null, error: null, ...rest, finished_at: at };
  };
  const outcome = async (): Promise<End> => {
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
  await rows.end(row.id, end).catch((err) => {
    log.error({ err, backup: row.id }, 'the end of a backup could not be written');
  });
  if (end.status === 'failed' && row.cause === 'scheduled') await tellAdmins(deps, rows, end);
};

const isSame = (a: Buffer[], b: Buffer[]): boolean =>
  a.length === b.length && a.every((key, at) => key.equals(b[at] ?? Buffer.alloc(0)));

const tellAdmins = async (
  { outbox, log }: BackupDeps,
  rows: BackupRows,
  { error }: End,
): Promise<void> => {
  const body = `${error}. The next one is tried at its time. Look: adjutant backup list`;
  const kind = 'backup_failed' as const;
  const message = { kind, title: 'A backup failed', body, link: null };
  try {
    for (const admin of await rows.admins()) await outbox.send(admin, message);
  } catch (err) {
    log.error({ err }, 'nobody could be told that a backup failed');
  }
};

/** Ends the backups that an earlier daemon had begun. Their files were never complete. */
const endInterrupted = async ({ clock }: BackupDeps, rows: BackupRows): Promise<void> => {
  for (const { id, kind, file } of await rows.running()) {
    const parts = kind === 'create' ? ['.part', '.part.db', '.part.db-journal'] : [];
    for (const part of parts) await rm(`${file}${part}`, { force: true });
    const finished_at = iso(clock.now());
    await rows.end(id, { status: 'interrupted', report: null, error: null, finished_at });
  }
};
