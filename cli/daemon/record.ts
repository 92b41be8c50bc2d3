import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../../src/kernel/private.js';
import { isRunning, type Process } from './process.js';

/** The background daemon of a home, as the command that started it wrote it down. */
export interface DaemonRecord extends Process {
  /** Null: it had not said where it listens when it was last looked at. */
  url: string | null;
  /** ISO 8601. */
  startedAt: string;
  /** Flags of `serve` beside the home, to start it again alike. */
  flags: string[];
}

const recordOf = (home: string): string => join(home, 'daemon.json');

/** The daemon that was started in the background here and still runs. */
export const runningDaemon = (home: string): DaemonRecord | null => {
  const record = lastDaemon(home);
  return record && isRunning(record) ? record : null;
};

/** The last one that was started here and not stopped, whether it runs or not. */
export const lastDaemon = (home: string): DaemonRecord | null => {
  try {
    const record: unknown = JSON.parse(readFileSync(recordOf(home), 'utf8'));
    return isRecord(record) ? record : null;
  } catch {
    return null;
  }
};

/** Renamed into place (0600), so that nobody reads half of it. */
export const writeRecord = (home: string, record: DaemonRecord): void => {
  makePrivateFolder(home);
  const next = `${recordOf(home)}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, recordOf(home));
};

export const dropRecord = (home: string): void => rmSync(recordOf(home), { force: true });

const isRecord = (value: unknown): value is DaemonRecord =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  Number.isInteger(value.pid) &&
  'started' in value &&
  'url' in value &&
  'startedAt' in value &&
  'flags' in value &&
  Array.isArray(value.flags);
