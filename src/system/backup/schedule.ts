import { rm } from 'node:fs/promises';
import type { Base } from '../../base.js';
import { iso } from '../../kernel/clock.js';
import { createWatch } from '../../kernel/watch.js';
import type { Timetable } from './contract.js';
import type { BackupRows } from './rows.js';
import type { BackupSettings } from './settings.js';

const TICK_MS = 60_000;
const HOUR_MS = 3600 * 1000;

/**
 * Begins a backup `everyHours` after it began the last one, also across restarts; it makes the
 * first at once. Then it deletes the files beyond the newest ones, but only files that the schedule
 * made.
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

  const prune = async (): Promise<void> => {
    for (const { id, file } of await rows.beyond(settings.keep)) {
      await rm(file, { force: true });
      await rows.update(id, { removed_at: iso(clock.now()) });
    }
  };

  const tick = async (): Promise<void> => {
    const { nextAt } = await timetable();
    await prune();
    if (nextAt !== null && Date.parse(nextAt) <= clock.now()) await deps.create();
  };

  const failed = (err: unknown): void =>
    log.warn({ err }, 'no backup was begun, tried again in a minute');
  const watch = createWatch({ everyMs: TICK_MS, look: tick, failed });

  return {
    timetable,
    start: (): void => {
      if (settings.everyHours > 0) watch.start();
    },
    stop: watch.stop,
  };
};
