import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { renameDurably, syncToDisk } from '../../kernel/durable.js';
import { diskFullSentence, isDiskFull } from '../../kernel/failure.js';
import { mint } from '../../kernel/ids.js';
import { makePrivateFolder } from '../../kernel/private.js';
import { DATABASE, OpenRefused, type ThreadOptions } from '../../store/engine/protocol.js';
import { isStorageFull, RESTORING, takeLock } from '../../store/thread/database.js';
import { quarantineCopy } from '../../store/thread/quarantine.js';
import type { QuarantineCounts } from '../../store/thread/quarantinestatements.js';
import { isVolumeFile } from './home.js';
import type { ProgressWatch } from './progress.js';
import { type Backup, type ReadOptions, withBackup } from './reader.js';
import { unpack, writeNew } from './unpack.js';

export interface RestoreOptions extends ReadOptions {
  /** A folder that is empty or does not exist yet. */
  home: string;
  /** Milliseconds. */
  now: number;
  /** ISO 8601. */
  at: string;
  entry: AuditRecord;
}

interface Filling extends RestoreOptions {
  /** The audit keys of the daemon that created the backup. */
  auditKeys: Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;
}

export interface RestoreResult extends QuarantineCounts {
  createdAt: string;
  schema: number;
  files: number;
  /** Names of the settings of the old daemon. */
  settings: string[];
}

/**
 * Nothing is written before the whole backup is verified. Until the last byte is on the disk, a marker
 * file in the home prevents a daemon from starting. The database comes last, and is changed so that it
 * does nothing by itself. Throws OpenRefused, BadBackup or PassphraseError.
 */
export const restoreBackup = (of: RestoreOptions, watch: ProgressWatch): Promise<RestoreResult> => {
  refuseUsed(of.home);
  return withBackup(of, watch, async (backup) => {
    // A backup that is refused does not need this module, which takes most of the thread's start.
    const { deriveAuditKeys, Keyring } = await import('../../secrets/module.js');
    const auditKeys = deriveAuditKeys(new Keyring(backup.keys.masterKeys));
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
      if (listHomeEntries(of.home).every((name) => name === 'lock.db'))
        rmSync(join(of.home, 'lock.db'), { force: true });
    }
  });
};

const LOCK_FILES = ['lock.db', 'lock.db-journal'];

/** Without what belongs to the volume. */
const listHomeEntries = (home: string): string[] =>
  readdirSync(home)
    .filter((name) => !isVolumeFile(name))
    .sort();

/** The number of names in an error message. */
const SHOWN = 5;

const refuseUsed = (home: string, besides: string[] = []): void => {
  if (!existsSync(home)) return;
  const there = listHomeEntries(home).filter((name) => !besides.includes(name));
  if (there.length === 0) return;
  if (there.includes(RESTORING)) {
    throw new OpenRefused(
      `An earlier restore into ${home} was interrupted. Empty the folder, then restore the backup again`,
    );
  }
  const named = there.slice(0, SHOWN).map(shownName).join(', ');
  const more = there.length > SHOWN ? ` and ${there.length - SHOWN} more` : '';
  throw new OpenRefused(
    `${home} is not empty: it contains ${named}${more}. A backup can be restored only into an empty home. Move these files elsewhere first`,
  );
};

const shownName = (name: string): string =>
  /^[\w.@+-]{1,60}$/.test(name) ? name : JSON.stringify(name.slice(0, 60));

/** On failure, everything that was written is removed again. */
const filled = (of: Filling, backup: Backup, watch: ProgressWatch): QuarantineCounts => {
  try {
    return fill(of, backup, watch);
  } catch (error) {
    const left = listHomeEntries(of.home).filter((name) => !/^(lock\.db|restoring$)/.test(name));
    for (const name of [...left, RESTORING]) rmSync(join(of.home, name), { recursive: true });
    const isFull = isDiskFull(error) || isStorageFull(error, of.home);
    throw isFull ? new OpenRefused(diskFullSentence(of.home)) : error;
  }
};

const fill = (of: Filling, backup: Backup, watch: ProgressWatch): QuarantineCounts => {
  const { home, at, now, entry } = of;
  const { keys, entries } = backup;
  for (const each of entries) {
    // Older versions also copied what belongs to the volume.
    const isOther = isVolumeFile(each.name.split('/', 1)[0] ?? '');
    if (each.name !== DATABASE && !isOther) unpack(backup, each, { root: home, watch });
  }
  for (const { path, content } of keys.files) writeNew(home, path, { chunks: [content] });
  const [newest, ...older] = keys.masterKeys;
  writeKey(home, 'keys/master.key', older[0] ?? newest);
  if (older.length > 0) writeKey(home, 'keys/master.key.next', newest);
  const database = entries.find(({ name }) => name === DATABASE);
  if (!database) throw new Error(`${DATABASE} disappeared during the restore`);
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
