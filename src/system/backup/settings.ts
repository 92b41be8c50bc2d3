import { join } from 'node:path';
import { type Config, givenSettings, variableOf } from '../../config.js';
import { MIN_PASSPHRASE_LENGTH } from '../../kernel/passphrase.js';
import { OpenRefused } from '../../store/engine/protocol.js';

/** OpenRefused: backups are to be made by themselves, and nothing is there to seal the keys with. */
export const backupSettings = (config: Config) => {
  const { home, backupFolder, backupEvery, backupKeep, backupPassphrase } = config;
  const name = `${variableOf('backupPassphrase')}_FILE`;
  if (backupPassphrase !== null && backupPassphrase.length < MIN_PASSPHRASE_LENGTH) {
    throw new OpenRefused(`${name} must hold ${MIN_PASSPHRASE_LENGTH} characters or more`);
  }
  if (backupPassphrase === null && backupEvery > 0) {
    throw new OpenRefused(
      `${variableOf('backupEvery')} needs a passphrase for the keys: set ${name}`,
    );
  }
  return {
    folder: backupFolder ?? join(home, 'backups'),
    everyHours: backupEvery,
    keep: backupKeep,
    passphrase: backupPassphrase,
    /** The names of the settings that the daemon was given. */
    given: givenSettings(),
  };
};

export type BackupSettings = ReturnType<typeof backupSettings>;
