import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { renameDurably, syncToDisk } from '../../kernel/durable.js';
import { diskFullSentence, isDiskFull } from '../../kernel/failure.js';
import { mint } from '../../kernel/ids.js';
import { makePrivateFolder } from '../../kernel/private.js';
import { DATABASE, OpenRefused, type ThreadOptions } from '../../store/engine/protocol.js';
import { isStorageFull, RESTORING, takeLock } from '../../store/thread/database.js';
import type { QuarantineCounts } from '../../store/thread/holds.js';
import { quarantineCopy } from '../../store/thread/quarantine.js';
import { isOfVolume } from './home.js';
import { type Backup, type ReadOptions, withBackup } from './reader.js';
import { unpack, writeNew } from './unpack.js';
import type { ProgressWatch } from './work.js';

export interface RestoreOptions extends ReadOptions {
  /** Path of a folder that is empty or does not exist yet. */
  home: string;
  /** Milliseconds. */
  now: number;
  /** ISO 8601. */
  at: string;
  entry: AuditRecord;
}

interface Filling extends RestoreOptions {
  /** The keys of the audit log of the daemon that made the backup. */
  auditKeys: Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;
}

export interface RestoreResult extends QuarantineCounts {
  createdAt: string;
  schema: number;
  files: number;
  /** Names of the settings that the old daemon was given. */
  settings: string[];
}

/**
 * Restores a backup into an empty home. Nothing is written before the whole backup is read and
 * verified. Until the last byte is on the disk, a marker file in the home prevents a daemon from
 * starting. The database comes last, and is changed so that it does nothing by itself. Throws
 * OpenRefused, BadBackup or PassphraseError with the reason.
 */
export const restoreBackup = (of: RestoreOptions, watch: ProgressWatch): Promise<RestoreResult> => {
  refuseUsed(of.home);
  return withBackup(of, watch, async (backup) => {
    // Loaded here, since a backup that is refused does without: it takes two thirds of the thread's
    // start.
    const { auditKeysOf, Keyring } = await import('../../secrets/module.js');
    const auditKeys = auditKeysOf(new Keyring(backup.keys.masterKeys));
    makePrivateFolder(of.home);
    refuseUsed(of.home);
    const lock = takeLock(of.home);
    try {
      refuseUsed(of.home, LOCK_FILES);
      writeFileSync(join(of.home, RESTORING), '', { flag: 'wx', mode: 0o600, flush: true });
      syncToDisk(of.home);
      const held = filled({ ...of, auditKeys }, backup, watch);
      rmSync(join(of.home, RESTORING));
      syncToDisk(of.home);
      const { createdAt, schema, files, settings } = backup.manifest;
      return { ...held, createdAt, schema, files: files.length, settings };
    } finally {
      lock.close();
      if (entriesOf(of.home).every((name) => name === 'lock.db'))
        rmSync(join(of.home, 'lock.db'), { force: true });
    }
  });
};

const LOCK_FILES = ['lock.db', 'lock.db-journal'];

/** Lists what is in a folder besides what belongs to its volume. */
const entriesOf = (home: string): string[] =>
  readdirSync(home)
    .filter((name) => !isOfVolume(name))
    .sort();

/** Ours: so many names are shown. */
const SHOWN = 5;

const refuseUsed = (home: string, besides: string[] = []): void => {
  if (!existsSync(home)) return;
  const there = entriesOf(home).filter((name) => !besides.includes(name));
  if (there.length === 0) return;
  if (there.includes(RESTORING)) {
    throw new OpenRefused(`A restore into ${home} was cut short: empty it first`);
  }
  const named = there.slice(0, SHOWN).map(shownName).join(', ');
  const more = there.length > SHOWN ? ` and ${there.length - SHOWN} more` : '';
  throw new OpenRefused(
    `${home} is not empty: it holds ${named}${more}. A backup is restored into an empty home only. Move them elsewhere first`,
  );
};

const shownName = (name: string): string =>
  /^[\w.@+-]{1,60}$/.test(name) ? name : JSON.stringify(name.slice(0, 60));

/**
 * Fills the home. If this fails, it empties the home again, since everything in it was written
 * here, apart from what belongs to the volume.
 */
const filled = (of: Filling, backup: Backup, watch: ProgressWatch): QuarantineCounts => {
  try {
    return fill(of, backup, watch);
  } catch (error) {
    const left = entriesOf(of.home).filter((name) => !/^(lock\.db|restoring$)/.test(name));
    for (const name of [...left, RESTORING]) rmSync(join(of.home, name), { recursive: true });
    const isFull = isDiskFull(error) || isStorageFull(error, of.home);
    throw isFull ? new OpenRefused(diskFullSentence(of.home)) : error;
  }
};

const fill = (of: Filling, backup: Backup, watch: ProgressWatch): QuarantineCounts => {
  const { home, at, now, entry } = of;
  const { keys, entries } = backup;
  for (const each of entries) {
    // An earlier version copied what belongs to the volume too.
    const isOther = isOfVolume(each.name.split('/', 1)[0] ?? '');
    if (each.name !== DATABASE && !isOther) unpack(backup, each, { root: home, watch });
  }
  for (const { path, content } of keys.files) writeNew(home, path, { chunks: [content] });
  const [newest, ...older] = keys.masterKeys;
  writeKey(home, 'keys/master.key', older[0] ?? newest);
  if (older.length > 0) writeKey(home, 'keys/master.key.next', newest);
  const database = entries.find(({ name }) => name === DATABASE);
  if (!database) throw new Error(`${DATABASE} was there a moment ago`);
  const coming = `${DATABASE}.${RESTORING}`;
  unpack(backup, database, { root: home, as: coming, watch });
  const held = quarantineCopy(join(home, coming), {
    at,
    why: 'Restored from a backup',
    mintId: () => mint('notification', now),
    entry: { ...entry, data: { backupOf: backup.manifest.createdAt } },
    keys: of.auditKeys,
  });
  renameDurably(join(home, coming), join(home, DATABASE));
  return held;
};

const writeKey = (home: string, path: string, key: Buffer): void =>
  writeNew(home, path, { chunks: [Buffer.from(`${key.toString('base64')}\n`)] });
