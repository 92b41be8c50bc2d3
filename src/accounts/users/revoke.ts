import { type Kysely, sql } from 'kysely';
import {
  ExpectationFailed,
  type Statement,
  type TransactionStep,
} from '../../store/engine/protocol.js';
import { updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { accessTokenTable, authSessionTable } from '../../store/tables/accounts.js';
import type { Tables } from '../../store/tables.js';
import type { AccountChanges } from './contract.js';

type Db = Kysely<Tables>;

/** Invalidates logins in progress, which began in the previous epoch. */
export const NEXT_EPOCH = sql<number>`login_epoch + 1`;

/**
 * Returns the statements that end what a change no longer allows: everything of a disabled user, the
 * impersonations of a former admin, and of a user who became an admin impersonations and what an
 * identity provider may have begun.
 */
export const revocationStatements = (
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
  // An identity provider must not act as an admin of the installation.
  const acting = ending(db, at)
    .where('user_id', '=', id)
    .where((of) =>
      of.or([of('impersonator_id', 'is not', null), of('sso_expires_at', 'is not', null)]),
    );
  const tokens = updateRows(db, accessTokenTable, { user_id: id })
    .set({ expires_at: at })
    .where('expires_at', '>', at)
    .where('user_id', 'in', db.selectFrom('org_identities').select('user_id'));
  return [statement(acting), statement(tokens)];
};

/** Includes the sessions in which the user impersonates others. */
export const endSessions = (db: Db, id: string, at: string): Statement =>
  statement(
    ending(db, at).where((of) => of.or([of('user_id', '=', id), of('impersonator_id', '=', id)])),
  );

/** Ends the sessions that an identity provider began. */
export const endSsoSessions = (db: Db, id: string, at: string): Statement =>
  statement(ending(db, at).where('user_id', '=', id).where('sso_expires_at', 'is not', null));

/** Returns the IDs, so that the sockets can be closed. */
const ending = (db: Db, at: string) =>
  updateRows(db, authSessionTable, { ended_at: null })
    .set({ ended_at: at })
    .where('expires_at', '>', at)
    .returning('id');

/** The tokens remain in the list as expired ones. */
export const endTokens = (db: Db, id: string, at: string): Statement =>
  statement(
    updateRows(db, accessTokenTable, { user_id: id })
      .set({ expires_at: at })
      .where('expires_at', '>', at),
  );

/** Also resets the counters of wrong codes, so that no lock remains. */
export const forgetDevices = (db: Db, id: string): Statement[] => [
  statement(db.deleteFrom('device_tokens').where('user_id', '=', id)),
  statement(db.deleteFrom('code_failures').where('user_id', '=', id)),
];

/** Failures with the old password must not delay anybody. */
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

/** Only enabled ones. */
export const enabledAdmins = (db: Db) =>
  db.selectFrom('users').select('id').where('role', '=', 'admin').where('disabled_at', 'is', null);

/** Returns the IDs of the sessions that the steps end; null if a step is unmet. */
export const endedSessionIds = async (
  store: Store,
  steps: TransactionStep[],
): Promise<string[] | null> => {
  try {
    const outcomes = await store.transact(steps);
    return outcomes.flatMap(({ rows }) => rows.flatMap(listRowIds));
  } catch (error) {
    if (error instanceof ExpectationFailed) return null;
    throw error;
  }
};

const listRowIds = (row: unknown): string[] =>
  typeof row === 'object' && row !== null && 'id' in row ? [String(row.id)] : [];
