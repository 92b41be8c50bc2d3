import { sql } from 'kysely';
import { type Clock, iso } from '../kernel/clock.js';
import type { DueSource } from '../schedule/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import { type CredentialRow, credentialTable } from '../store/tables/vault.js';
import {
  type CredentialUsageDeps,
  credentialUsers,
  DAY_MS,
  EXPIRED,
  FIRST_REMINDER_MS,
  reminderDueAt,
  remindersPast,
  rotateDueAt,
} from '../vault/module.js';
import type { Notice, Outbox } from './outbox.js';

export interface ReminderDeps {
  store: Store;
  clock: Clock;
  outbox: Outbox;
  usage: CredentialUsageDeps;
}

const HOUR_MS = 3600 * 1000;
const AT_ONCE = 100;

/**
 * Each reminder is recorded in one transaction with its notification, so it is sent once. After
 * downtime only the last due reminder is sent.
 */
export const createReminders = (deps: ReminderDeps): DueSource => {
  const tick = async (): Promise<void> => {
    for (const row of await findExpiring(deps)) await remindOfExpiry(deps, row);
    for (const row of await findDueRotations(deps)) await remindOfRotation(deps, row);
  };

  const nextAt = async (): Promise<string | null> => {
    const levels = Array.from({ length: EXPIRED }, (_, remindersSent) =>
      nextExpiryReminder(deps, remindersSent),
    );
    const due = await Promise.all([...levels, nextRotation(deps)]);
    return due.filter((at) => at !== null).sort()[0] ?? null;
  };

  return { name: 'credential reminders', nextAt, tick };
};

const nextExpiryReminder = async (
  { store }: ReminderDeps,
  remindersSent: number,
): Promise<string | null> => {
  const next = await store.db
    .selectFrom('credentials')
    .select('expires_at')
    .where('expires_at', 'is not', null)
    .where('expiry_told', '<', sql.lit(EXPIRED))
    .where('expiry_told', '=', remindersSent)
    .orderBy('expires_at')
    .limit(1)
    .executeTakeFirst();
  return next?.expires_at ? reminderDueAt(next.expires_at, remindersSent) : null;
};

/** The bounds are literals; otherwise the index is not used. */
const findExpiring = async ({ store, clock }: ReminderDeps): Promise<CredentialRow[]> => {
  const now = clock.now();
  const rows = await store.db
    .selectFrom('credentials')
    .select(credentialTable.columns)
    .where('expires_at', '<=', iso(now + FIRST_REMINDER_MS))
    .where('expiry_told', '<', sql.lit(EXPIRED))
    .orderBy('expires_at')
    .execute();
  return rows
    .filter((row) => remindersPast(row.expires_at, now) > row.expiry_told)
    .slice(0, AT_ONCE);
};

const remindOfExpiry = async (deps: ReminderDeps, row: CredentialRow): Promise<void> => {
  const { store, clock } = deps;
  const past = remindersPast(row.expires_at, clock.now());
  const isOver = past === EXPIRED;
  const left = Date.parse(row.expires_at ?? '') - clock.now();
  const marking = store.db
    .updateTable('credentials')
    .set({ expiry_told: past })
    .where('id', '=', row.id)
    .where('expires_at', '=', row.expires_at)
    .where('expiry_told', '=', row.expiry_told);
  await sendReminder(deps, row, statement(marking, 1), {
    kind: isOver ? 'credential_expired' : 'credential_expiring',
    title: isOver ? `${row.name} has expired` : `${row.name} expires ${within(left)}`,
    reason: isOver ? 'It is no longer used.' : `It will not be used after ${row.expires_at}.`,
  });
};

const findDueRotations = async (deps: ReminderDeps): Promise<CredentialRow[]> => {
  const now = iso(deps.clock.now());
  const rows = await findRotatable(deps);
  return rows.filter((row) => (rotateDueAt(row) ?? now) <= now).slice(0, AT_ONCE);
};

const nextRotation = async (deps: ReminderDeps): Promise<string | null> => {
  const due = (await findRotatable(deps)).flatMap((row) => rotateDueAt(row) ?? []);
  return due.sort()[0] ?? null;
};

const findRotatable = ({ store }: ReminderDeps): Promise<CredentialRow[]> =>
  store.db
    .selectFrom('credentials')
    .select(credentialTable.columns)
    .where('rotate_every_days', 'is not', null)
    .where('rotation_told', '=', sql.lit(0))
    .execute();

const remindOfRotation = async (deps: ReminderDeps, row: CredentialRow): Promise<void> => {
  const { rotated_at, created_at, rotate_every_days: days } = row;
  const marking = deps.store.db
    .updateTable('credentials')
    .set({ rotation_told: 1 })
    .where('id', '=', row.id)
    .where('rotate_every_days', '=', row.rotate_every_days)
    .where('rotated_at', 'is', row.rotated_at)
    .where('rotation_told', '=', 0);
  await sendReminder(deps, row, statement(marking, 1), {
    kind: 'credential_rotation_due',
    title: `${row.name} is due for rotation`,
    reason: `The value was set at ${rotated_at ?? created_at}. The rotation interval is ${days} days.`,
  });
};

interface Reminder {
  kind: Notice['kind'];
  title: string;
  reason: string;
}

/** Unless the credential changed or the owner was reminded meanwhile. */
const sendReminder = async (
  { store, outbox, usage }: ReminderDeps,
  { id, user_id, name: about }: CredentialRow,
  marking: Statement,
  { kind, title, reason }: Reminder,
): Promise<void> => {
  const { names } = await credentialUsers(usage, id);
  const body = `${usedBy(names)}\n${reason}\nRotate it with: adjutant vault rotate ${about}`;
  const notice = { kind, title, body, link: `/api/vault/${id}`, about };
  const posting = outbox.toOwner(user_id, notice);
  const isTold = await isCommitted(store.transact([marking, ...posting.statements]));
  if (isTold) posting.published();
};

const usedBy = (names: string[]): string =>
  names.length === 0 ? 'No hook, model or webhook uses it.' : `Used by ${names.join(', ')}.`;

/** `in 7 days`, `in 23 hours`. */
const within = (ms: number): string => {
  const [count, unit] =
    ms > DAY_MS ? [Math.ceil(ms / DAY_MS), 'day'] : [Math.ceil(ms / HOUR_MS), 'hour'];
  return `in ${count} ${unit}${count === 1 ? '' : 's'}`;
};
