import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE, type Migration, OpenRefused } from '../../store/engine/protocol.js';
import { integrityFaults } from '../../store/thread/copy.js';
import { readSchemaVersion, takeLock, withDatabase } from '../../store/thread/database.js';
import { findTriggerFault } from '../../store/thread/triggers.js';
import type { VerifiedBackup } from './contract.js';
import { BadBackup } from './manifest.js';
import type { ProgressWatch } from './progress.js';
import { type ReadOptions, withBackup } from './reader.js';
import { unpack } from './unpack.js';

export interface BackupCheckOptions extends ReadOptions {
  migrations: Migration[];
}

/**
 * Also starts a copy, since only a start proves that a backup can be used. Throws BadBackup,
 * PassphraseError or OpenRefused.
 */
export const verifyBackup = (
  of: BackupCheckOptions,
  watch: ProgressWatch,
): Promise<VerifiedBackup> =>
  withBackup(of, watch, async (backup) => {
    removeLeftovers();
    const scratch = mkdtempSync(join(tmpdir(), PREFIX));
    const lock = takeLock(scratch);
    const home = join(scratch, HOME);
    try {
      mkdirSync(home, { mode: 0o700 });
      for (const entry of backup.entries) {
        const isNeeded = entry.name === DATABASE || entry.name === 'audit.head';
        if (isNeeded) unpack(backup, entry, { root: home, watch });
      }
      watch.step('checks', 0);
      refuseFaulty(join(home, DATABASE), of.migrations);
      watch.step('drill', 0);
      const { drill } = await import('./drill.js');
      const drilled = await drill({ ...of, home, keys: backup.keys }).catch((error) => {
        throw error instanceof OpenRefused ? new BadBackup(inBackup(error, home)) : error;
      });
      const { manifestSha256 } = backup;
      const { createdAt, version, schema, files, newestDelivery } = backup.manifest;
      const found = { createdAt, version, schema, files: files.length, newestDelivery };
      return { ...found, manifestSha256, ...drilled };
    } finally {
      lock.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  });

const PREFIX = 'adjutant-drill-';
const HOME = 'home';

/**
 * Removes the copies of killed checks. A check locks its folder before it copies anything, and the
 * system releases the lock of a killed process. Others may create folders in a shared temporary
 * folder, so only folders of this user are opened.
 */
const removeLeftovers = (): void => {
  const root = tmpdir();
  for (const name of readdirSync(root)) {
    const folder = join(root, name);
    if (!name.startsWith(PREFIX) || !isOwnFolder(folder) || !existsSync(join(folder, HOME)))
      continue;
    try {
      takeLock(folder).close();
    } catch (error) {
      if (error instanceof OpenRefused) continue;
      throw error;
    }
    rmSync(folder, { recursive: true, force: true });
  }
};

const isOwnFolder = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
};

const refuseFaulty = (file: string, migrations: Migration[]): void => {
  const [first, ...more] = integrityFaults(file);
  const rest = more.length > 0 ? ', and more' : '';
  if (first !== undefined)
    throw new BadBackup(`The database in the backup is damaged: ${first}${rest}`);
  const trigger = withDatabase(file, { readonly: true }, (db) => {
    const schema = readSchemaVersion(db);
    return findTriggerFault(
      db,
      migrations.filter(({ version }) => version <= schema),
    );
  });
  if (trigger) throw new BadBackup(`The database in the backup ${trigger.fault}`);
};

/** Removes the paths of the temporary folder, which no longer exists when the message is read. */
const inBackup = ({ message }: OpenRefused, scratch: string): string =>
  message
    .replaceAll(join(scratch, DATABASE), 'in the backup')
    .replaceAll(scratch, 'the temporary folder');
