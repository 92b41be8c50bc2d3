import type { Config } from '../config.js';
import { version } from '../version.js';
import { backupSettings } from './backups.js';
import type { RuntimeSettings } from './runtime.js';

/** Returns the settings that the runtime needs. OpenRefused if they do not go together. */
export const runtimeSettings = (config: Config, boot: string): RuntimeSettings => ({
  boot,
  home: config.home,
  jobConcurrency: config.jobConcurrency,
  hookConcurrency: config.hookConcurrency,
  dailyCostUsd: config.dailyCostUsd,
  retentionDays: config.retentionDays,
  searchUrl: config.searchUrl,
  cliPath: config.cliPath,
  version,
  backup: backupSettings(config),
});
