import { type Kysely, sql } from 'kysely';
import { type Statement, type TransactionStep, Unmet } from '../../store/engine/protocol.js';
import { updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { accessTokenTable, authSessionTable } from '../../store/tables/accounts.js';
import type { Tables } from '../../store/tables.js';
import type { AccountChanges } from './contract.js';

type Db = Kysely<Tables>;

/** Invalidates logins under way, which began in the epoch before. */
export const NEXT_EPOCH = sql<number>`login_epoch + 1`;

/**
 * Returns the statements that end what a change no longer allows: everything of a user who is
 * disabled, the sessions in which a former admin acts as others, and the sessions in which somebody
 * acts as a user who is now an admin.
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

/** Ends the user's sessions, and those in which the user acts as others. */
export const endSessions = (db: Db, id: string, at: string): Statement =>
  statement(
    ending(db, at).where((of) => of.or([of('user_id', '=', id), of('impersonator_id', '=', id)])),
  );

/** Builds the update. It returns the ids, so that their sockets can be closed. */
const ending = (db: Db, at: string) =>
  updateRows(db, authSessionTable, { ended_at: null })
    .set({ ended_at: at })
    .where('expires_at', '>', at)
    .returning('id');

/** Ends the tokens. They stay in their user's list as expired ones. */
export const endTokens = (db: Db, id: string, at: string): Statement =>
  statement(
    updateRows(db, accessTokenTable, { user_id: id })
      .set({ expires_at: at })
      .where('expires_at', '>', at),
  );

/**
 * Deletes known devices, so that they need a complete login again, and the counts of wrong codes,
 * so that no lock remains.
 */
export const forgetDevices = (db: Db, id: string): Statement[] => [
  statement(db.deleteFrom('device_tokens').where('user_id', '=', id)),
  statement(db.deleteFrom('code_failures').where('user_id', '=', id)),
];

/** Deletes failures with the old password, so that nobody has to wait because of them. */
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

/** Selects the admins who are not disabled. */
export const admins = (db: Db) =>
  db.selectFrom('users').select('id').where('role', '=', 'admin').where('disabled_at', 'is', null);

/** Returns the ids of the sessions that the steps end; null if a step is unmet. */
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
