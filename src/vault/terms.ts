import { iso } from '../kernel/clock.js';
import type { CredentialRow } from '../store/tables/vault.js';

export const DAY_MS = 24 * 3600 * 1000;

const REMINDERS_MS = [7 * DAY_MS, DAY_MS, 0] as const;
/** The first reminder, in milliseconds before the expiry. The last one is at the expiry. */
export const FIRST_REMINDER_MS = REMINDERS_MS[0];
export const EXPIRED = REMINDERS_MS.length;

/** The number of past reminders; `EXPIRED` if the credential has expired. */
export const remindersPast = (expiresAt: string | null, now: number): number => {
  if (expiresAt === null) return 0;
  const leftMs = Date.parse(expiresAt) - now;
  return REMINDERS_MS.filter((beforeMs) => leftMs <= beforeMs).length;
};

/** `sent` is the number of reminders sent so far. */
export const reminderDueAt = (expiresAt: string, sent: number): string =>
  iso(Date.parse(expiresAt) - (REMINDERS_MS[sent] ?? 0));

/** Null if there are no rotation reminders. */
export const rotateDueAt = (
  row: Pick<CredentialRow, 'rotate_every_days' | 'rotated_at' | 'created_at'>,
): string | null =>
  row.rotate_every_days === null
    ? null
    : iso(Date.parse(row.rotated_at ?? row.created_at) + row.rotate_every_days * DAY_MS);
