import { rm } from 'node:fs/promises';
import type { Base } from '../../base.js';
import { iso } from '../../kernel/clock.js';
import type { DueSource } from '../../schedule/module.js';
import type { Timetable } from './contract.js';
import type { BackupRows } from './rows.js';
import type { BackupSettings } from './settings.js';

const HOUR_MS = 3600 * 1000;

/**
 * A backup begins `everyHours` after the start of the last one, also across restarts; the first one at
 * once. `prune` deletes surplus files that the schedule created.
 */
export const createBackupSchedule = (
  { clock, log }: Base,
  deps: { rows: BackupRows; settings: BackupSettings; create(): Promise<unknown> },
) => {
  const { rows, settings } = deps;

  const timetable = async (): Promise<Timetable> => {
    const { everyHours, keep, folder, passphrase } = settings;
    const lastAt = await rows.lastScheduledAt();
    const next = lastAt === null ? clock.now() : Date.parse(lastAt) + everyHours * HOUR_MS;
    const nextAt = everyHours === 0 ? null : iso(next);
    return { everyHours, keep, folder, isPassphraseSet: Boolean(passphrase), lastAt, nextAt };
  };

  const removeOld = async (): Promise<void> => {
    for (const { id, file } of await rows.beyond(settings.keep)) {
      await rm(file, { force: true });
      await rows.update(id, { removed_at: iso(clock.now()) });
    }
  };

  const prune = async (): Promise<void> => {
    if (settings.everyHours === 0) return;
    await removeOld().catch((err) => log.warn({ err }, 'old backups could not be deleted'));
  };

  const nextAt = async (): Promise<string | null> => (await timetable()).nextAt;
  const tick = async (): Promise<void> => {
    const dueAt = await nextAt();
    if (dueAt !== null && Date.parse(dueAt) <= clock.now()) await deps.create();
  };

  const source: DueSource = { name: 'backups', nextAt, tick };
  return { timetable, prune, source };
};
