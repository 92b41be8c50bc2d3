import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { renameDurably, syncToDisk } from '../../kernel/durable.js';
import { mint } from '../../kernel/ids.js';
import { makePrivateFolder } from '../../kernel/private.js';
import { auditKeysOf } from '../../secrets/auditmac.js';
import { Keyring } from '../../secrets/keyring.js';
import { OpenRefused } from '../../store/engine/protocol.js';
import { DATABASE, RESTORING, takeLock } from '../../store/thread/database.js';
import { holdBack, type QuarantineCounts } from '../../store/thread/quarantine.js';
import type { ProgressWatch } from './progress.js';
import { type Backup, type ReadOptions, withBackup } from './reader.js';
import { unpack, writeNew } from './unpack.js';

export interface Restoring extends ReadOptions {
  /** Empty, or not there yet. */
  home: string;
  /** Milliseconds. */
  now: number;
  /** ISO 8601. */
  at: string;
  entry: AuditRecord;
}

export interface RestoreResult extends QuarantineCounts {
  createdAt: string;
  schema: number;
  files: number;
  /** Names of settings that the old daemon was given. */
  settings: string[];
}

/**
 * Restores into an empty home. Nothing is written before the whole backup was read and holds. Until
 * the last byte is durable a mark lies in the home, with which no daemon begins; the database comes
 * last, and is made to act on nothing by itself. OpenRefused, BadBackup, PassphraseError say why not.
 */
export const restoreBackup = (of: Restoring, watch: ProgressWatch): Promise<RestoreResult> => {
  refuseUsed(of.home);
  return withBackup(of, watch, async (backup) => {
    makePrivateFolder(of.home);
    refuseUsed(of.home);
    const lock = takeLock(of.home);
    try {
      refuseUsed(of.home, ['lock.db', 'lock.db-journal']);
      writeFileSync(join(of.home, RESTORING), '', { flag: 'wx', mode: 0o600, flush: true });
      syncToDisk(of.home);
      const held = filled(of, backup, watch);
      rmSync(join(of.home, RESTORING));
      syncToDisk(of.home);
      const { createdAt, schema, files, settings } = backup.manifest;
      return { ...held, createdAt, schema, files: files.length, settings };
    } finally {
      lock.close();
      if (readdirSync(of.home).every((name) => name === 'lock.db'))
        rmSync(join(of.home, 'lock.db'), { force: true });
    }
  });
};

const refuseUsed = (home: string, besides: string[] = []): void => {
  if (!existsSync(home)) return;
  const there = readdirSync(home).filter((name) => !besides.includes(name));
  if (there.length === 0) return;
  if (there.includes(RESTORING)) {
    throw new OpenRefused(`A restore into ${home} was cut short: empty it first`);
  }
  throw new OpenRefused(`${home} is not empty. A backup is restored into an empty home only`);
};

/** Where it does not come about the home is empty again: all that is in it was put there here. */
const filled = (of: Restoring, backup: Backup, watch: ProgressWatch): QuarantineCounts => {
  try {
    return fill(of, backup, watch);
  } catch (error) {
    const left = readdirSync(of.home).filter((name) => !/^(lock\.db|restoring$)/.test(name));
    for (const name of [...left, RESTORING]) rmSync(join(of.home, name), { recursive: true });
    throw error;
  }
};

const fill = (of: Restoring, backup: Backup, watch: ProgressWatch): QuarantineCounts => {
  const { home, at, now, entry } = of;
  const { keys, entries } = backup;
  for (const each of entries) {
    if (each.name !== DATABASE) unpack(backup, each, { root: home, watch });
  }
  for (const { path, content } of keys.files) writeNew(home, path, { chunks: [content] });
  const [newest, ...older] = keys.masterKeys;
  writeKey(home, 'keys/master.key', older[0] ?? newest);
  if (older.length > 0) writeKey(home, 'keys/master.key.next', newest);
  const database = entries.find(({ name }) => name === DATABASE);
  if (!database) throw new Error(`${DATABASE} was there a moment ago`);
  const coming = `${DATABASE}.${RESTORING}`;
  unpack(backup, database, { root: home, as: coming, watch });
  const held = holdBack(join(home, coming), {
    at,
    why: 'Restored from a backup',
    mintId: () => mint('notification', now),
    entry: { ...entry, data: { backupOf: backup.manifest.createdAt } },
    keys: auditKeysOf(new Keyring(keys.masterKeys)),
  });
  renameDurably(join(home, coming), join(home, DATABASE));
  return held;
};

const writeKey = (home: string, path: string, key: Buffer): void =>
  writeNew(home, path, { chunks: [Buffer.from(`${key.toString('base64')}\n`)] });
