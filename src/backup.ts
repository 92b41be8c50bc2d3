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

/** Needs no daemon. */
export const verifyFile = (
  of: FileAndPassphrase,
  progressed: (step: BackupProgress) => void,
): BackupWork<VerifiedBackup> =>
  startWork({ kind: 'verify', ...of, migrations, schemas }, progressed);

/** Throws BadSetting. */
export const restoreFile = (
  { home: homeFlag, ...of }: FileAndPassphrase & { home: string },
  progressed: (step: BackupProgress) => void,
): BackupWork<RestoreResult> => {
  const { home } = readConfig({ home: homeFlag });
  const now = systemClock.now();
  const entry = operatorEntry('backups.restore', null);
  return startWork({ kind: 'restore', ...of, schemas, home, now, at: iso(now), entry }, progressed);
};
