import { iso } from '../kernel/clock.js';
import type { CredentialRow } from '../store/tables/vault.js';

export const DAY_MS = 24 * 3600 * 1000;

/** The times before its expiry at which the owner of a credential is reminded. */
const REMINDERS_MS = [7 * DAY_MS, DAY_MS, 0] as const;
/** The time of the first reminder before the expiry; the last reminder is at the expiry itself. */
export const FIRST_REMINDER_MS = REMINDERS_MS[0];
export const EXPIRED = REMINDERS_MS.length;

/** Returns how many of the reminders are past; `EXPIRED` if the credential has expired. */
export const remindersPast = (expiresAt: string | null, now: number): number => {
  if (expiresAt === null) return 0;
  const leftMs = Date.parse(expiresAt) - now;
  return REMINDERS_MS.filter((beforeMs) => leftMs <= beforeMs).length;
};

/** Returns when the next reminder of a credential with an expiry is due, after `told` of them. */
export const reminderDueAt = (expiresAt: string, told: number): string =>
  iso(Date.parse(expiresAt) - (REMINDERS_MS[told] ?? 0));

/** Returns the due time of the next rotation; null if the owner asked for no reminder. */
export const rotateDueAt = (
  row: Pick<CredentialRow, 'rotate_every_days' | 'rotated_at' | 'created_at'>,
): string | null =>
  row.rotate_every_days === null
    ? null
    : iso(Date.parse(row.rotated_at ?? row.created_at) + row.rotate_every_days * DAY_MS);
