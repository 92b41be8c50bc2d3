import { migrations } from '../migrations/all.js';
import { readConfig } from './config.js';
import { iso, systemClock } from './kernel/clock.js';
import { operatorEntry } from './operator.js';
import type { BackupProgress, VerifiedBackup } from './system/backup/contract.js';
import type { RestoreResult } from './system/backup/restore.js';
import { type BackupWork, startWork } from './system/backup/work.js';

export interface FileAndPassphrase {
  file: string;
  passphrase: string;
}

const schemas = migrations.map(({ version }) => version);

/** Reads a backup file and starts a copy of it once, in a scratch folder; no daemon is asked. */
export const verifyFile = (
  of: FileAndPassphrase,
  progressed: (step: BackupProgress) => void,
): BackupWork<VerifiedBackup> =>
  startWork({ kind: 'verify', ...of, migrations, schemas }, progressed);

/** Restores a backup file into an empty home. BadSetting names a setting. */
export const restoreFile = (
  { home: given, ...of }: FileAndPassphrase & { home: string },
  progressed: (step: BackupProgress) => void,
): BackupWork<RestoreResult> => {
  const { home } = readConfig({ home: given });
  const now = systemClock.now();
  const entry = operatorEntry('backups.restore', null);
  return startWork({ kind: 'restore', ...of, schemas, home, now, at: iso(now), entry }, progressed);
};
