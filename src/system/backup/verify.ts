import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DATABASE, type Migration, OpenRefused } from '../../store/engine/protocol.js';
import { integrityFaults } from '../../store/thread/copy.js';
import { readSchemaVersion, withDatabase } from '../../store/thread/database.js';
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
    const scratch = mkdtempSync(join(tmpdir(), 'adjutant-drill-'));
    try {
      for (const entry of backup.entries) {
        const isNeeded = entry.name === DATABASE || entry.name === 'audit.head';
        if (isNeeded) unpack(backup, entry, { root: scratch, watch });
      }
      watch.step('checks', 0);
      refuseFaulty(join(scratch, DATABASE), of.migrations);
      watch.step('drill', 0);
      const { drill } = await import('./drill.js');
      const drilled = await drill({ ...of, home: scratch, keys: backup.keys }).catch((error) => {
        throw error instanceof OpenRefused ? new BadBackup(inBackup(error, scratch)) : error;
      });
      const { manifestSha256 } = backup;
      const { createdAt, version, schema, files, newestDelivery } = backup.manifest;
      const found = { createdAt, version, schema, files: files.length, newestDelivery };
      return { ...found, manifestSha256, ...drilled };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });

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
