import { iso } from '../kernel/clock.js';
import type { CredentialRow } from '../store/tables/vault.js';

export const DAY_MS = 24 * 3600 * 1000;

/** How long before a credential expires its owner is reminded. */
const REMINDERS_MS = [7 * DAY_MS, DAY_MS, 0] as const;
/** Before its expiry; the last reminder is the expiry itself. */
export const FIRST_REMINDER_MS = REMINDERS_MS[0];
export const EXPIRED = REMINDERS_MS.length;

/** How many of the reminders are past: `EXPIRED` of them where it is over. */
export const remindersPast = (expiresAt: string | null, now: number): number => {
  if (expiresAt === null) return 0;
  const leftMs = Date.parse(expiresAt) - now;
  return REMINDERS_MS.filter((beforeMs) => leftMs <= beforeMs).length;
};

/** When it is due for another value; null where nobody asked to be reminded. */
export const rotateDueAt = (
  row: Pick<CredentialRow, 'rotate_every_days' | 'rotated_at' | 'created_at'>,
): string | null =>
  row.rotate_every_days === null
    ? null
    : iso(Date.parse(row.rotated_at ?? row.created_at) + row.rotate_every_days * DAY_MS);
