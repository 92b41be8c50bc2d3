import { type Kysely, sql } from 'kysely';
import { type Statement, type TransactionStep, Unmet } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { Tables } from '../../store/tables.js';
import type { AccountChanges } from './contract.js';

type Db = Kysely<Tables>;

/** Makes logins void that are under way: they began in the epoch before. */
export const NEXT_EPOCH = sql<number>`login_epoch + 1`;

/**
 * What ends with a change: everything of who is disabled, what an admin who is one no more does as
 * others, and what is done as a user who is an admin now.
 */
export const endingsOf = (
  db: Db,
  id: string,
  { role, disabled }: AccountChanges,
  at: string,
): Statement[] => {
  if (disabled === true) {
    return [endSessions(db, id, at), endTokens(db, id, at), ...forgetDevices(db, id)];
  }
  if (role === 'user') return [statement(ending(db, at).where('impersonator_id', '=', id))];
  if (role === undefined) return [];
  const acting = ending(db, at).where('user_id', '=', id).where('impersonator_id', 'is not', null);
  return [statement(acting)];
};

/** Those of the user, and those in which the user acts as others. */
export const endSessions = (db: Db, id: string, at: string): Statement =>
  statement(
    ending(db, at).where((of) => of.or([of('user_id', '=', id), of('impersonator_id', '=', id)])),
  );

/** Returns the ids, so that their sockets can be closed. */
const ending = (db: Db, at: string) =>
  db
    .updateTable('auth_sessions')
    .set({ ended_at: at })
    .where('ended_at', 'is', null)
    .where('expires_at', '>', at)
    .returning('id');

/** They stay in their user's list, as ones that are over. */
export const endTokens = (db: Db, id: string, at: string): Statement =>
  statement(
    db
      .updateTable('access_tokens')
      .set({ expires_at: at })
      .where('user_id', '=', id)
      .where('expires_at', '>', at),
  );

/** Devices that were known have to log in in full again; nobody waits for codes that were wrong. */
export const forgetDevices = (db: Db, id: string): Statement[] => [
  statement(db.deleteFrom('device_tokens').where('user_id', '=', id)),
  statement(db.deleteFrom('code_failures').where('user_id', '=', id)),
];

/** Nobody waits for failures that were of another password. */
export const forgetFailures = (db: Db, id: string): Statement => {
  const keys = db
    .selectFrom('users')
    .select(sql<string>`username_key`.as('key'))
    .where('id', '=', id)
    .unionAll(
      db
        .selectFrom('users')
        .select(sql<string>`email_key`.as('key'))
        .where('id', '=', id)
        .where('email_key', 'is not', null),
    );
  return statement(db.deleteFrom('login_failures').where('account', 'in', keys));
};

/** Admins who can act as such. */
export const admins = (db: Db) =>
  db.selectFrom('users').select('id').where('role', '=', 'admin').where('disabled_at', 'is', null);

/** The ids of the sessions that the steps end; null where they may not be. */
export const ended = async (store: Store, steps: TransactionStep[]): Promise<string[] | null> => {
  try {
    const outcomes = await store.transact(steps);
    return outcomes.flatMap(({ rows }) => rows.flatMap(idOf));
  } catch (error) {
    if (error instanceof Unmet) return null;
    throw error;
  }
};

const idOf = (row: unknown): string[] =>
  typeof row === 'object' && row !== null && 'id' in row ? [String(row.id)] : [];
