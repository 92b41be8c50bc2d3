import { join } from 'node:path';
import { type Config, configuredSettingNames, toVariableName } from '../../config.js';
import { MIN_PASSPHRASE_LENGTH } from '../../kernel/passphrase.js';
import { OpenRefused } from '../../store/engine/protocol.js';

/** Throws OpenRefused if scheduled backups are enabled without a passphrase. */
export const backupSettings = (config: Config) => {
  const { home, backupFolder, backupEvery, backupKeep, backupPassphrase } = config;
  const name = `${toVariableName('backupPassphrase')}_FILE`;
  if (backupPassphrase !== null && backupPassphrase.length < MIN_PASSPHRASE_LENGTH) {
    throw new OpenRefused(`${name} must contain at least ${MIN_PASSPHRASE_LENGTH} characters`);
  }
  if (backupPassphrase === null && backupEvery > 0) {
    throw new OpenRefused(
      `${toVariableName('backupEvery')} requires a passphrase for the keys. Set ${name}`,
    );
  }
  return {
    folder: backupFolder ?? join(home, 'backups'),
    everyHours: backupEvery,
    keep: backupKeep,
    passphrase: backupPassphrase,
    /** Names of the settings in the environment of the daemon. */
    given: configuredSettingNames(),
  };
};

export type BackupSettings = ReturnType<typeof backupSettings>;
