import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst } from '../store/page.js';
import { statement, unlessUnmet } from '../store/store.js';
import type { CredentialRow, CredentialVersionRow } from '../store/tables/vault.js';
import {
  type CredentialUsageDeps,
  type CredentialUsers,
  credentialUses,
  isOfPlatform,
  platformsBut,
  usersOf,
} from './usage.js';

const CREDENTIAL = [
  'id',
  'user_id',
  'name',
  'type',
  'description',
  'tags',
  'allowed_tools',
  'allowed_hosts',
  'version',
  'expires_at',
  'last_used_at',
  'rotated_at',
  'rotate_every_days',
  'expiry_told',
  'rotation_told',
  'created_at',
  'updated_at',
] as const;

/** A change of a credential that was read earlier. */
interface CredentialChange {
  read: CredentialRow;
  changes: Partial<CredentialRow>;
  also: TransactionStep[];
}

export const credentialsStore = (deps: CredentialUsageDeps) => {
  const { store } = deps;
  const { db } = store;

  const update = ({ read, changes }: CredentialChange) =>
    statement(
      db
        .updateTable('credentials')
        .set(changes)
        .where('user_id', '=', read.user_id)
        .where('id', '=', read.id)
        .where('updated_at', '=', read.updated_at),
      1,
    );

  return {
    list: async (
      userId: string,
      page: { limit: number; cursor?: string; type?: CredentialRow['type'] },
    ): Promise<{ rows: CredentialRow[]; nextCursor: string | null }> => {
      let query = db.selectFrom('credentials').select(CREDENTIAL).where('user_id', '=', userId);
      if (page.type !== undefined) query = query.where('type', '=', page.type);
      return newestFirst(query, page);
    },

    get: (userId: string, id: string): Promise<CredentialRow | undefined> =>
      db
        .selectFrom('credentials')
        .select(CREDENTIAL)
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst(),

    /** Reads one version of the user's own credential. */
    version: (
      userId: string,
      id: string,
      version: number,
    ): Promise<CredentialVersionRow | undefined> =>
      db
        .selectFrom('credential_versions')
        .selectAll()
        .where('user_id', '=', userId)
        .where('credential_id', '=', id)
        .where('version', '=', version)
        .executeTakeFirst(),

    /** Reads the versions that are valid at that time, the newest first. */
    versions: (userId: string, id: string, at: string): Promise<CredentialVersionRow[]> =>
      db
        .selectFrom('credential_versions')
        .selectAll()
        .where('user_id', '=', userId)
        .where('credential_id', '=', id)
        .where((of) => of.or([of('valid_until', 'is', null), of('valid_until', '>', at)]))
        .orderBy('version', 'desc')
        .execute(),

    count: async (userId: string): Promise<number> =>
      (
        await db
          .selectFrom('credentials')
          .select((of) => of.fn.countAll<number>().as('count'))
          .where('user_id', '=', userId)
          .executeTakeFirstOrThrow()
      ).count,

    /** Inserts a credential. Throws Taken if the user has one with that name. */
    insert: async (
      row: CredentialRow,
      version: CredentialVersionRow,
      also: TransactionStep,
    ): Promise<void> => {
      await store.transact([
        statement(db.insertInto('credentials').values(row), 1),
        statement(db.insertInto('credential_versions').values(version), 1),
        also,
      ]);
    },

    /** Updates a credential. False if it was changed or deleted since it was read. Throws Taken. */
    update: (change: CredentialChange): Promise<boolean> =>
      unlessUnmet(store.transact([update(change), ...change.also])),

    /**
     * Updates a credential and adds a new version; same result and errors as `update`. The earlier
     * versions are valid until `overlapUntil` at most; with null they are destroyed at once.
     */
    rotate: (
      change: CredentialChange,
      version: CredentialVersionRow,
      overlapUntil: string | null,
    ): Promise<boolean> => {
      const older = db.updateTable('credential_versions').set({ valid_until: overlapUntil });
      const gone = db.deleteFrom('credential_versions').where('credential_id', '=', change.read.id);
      const before =
        overlapUntil === null
          ? gone
          : older
              .where('credential_id', '=', change.read.id)
              .where((of) =>
                of.or([of('valid_until', 'is', null), of('valid_until', '>', overlapUntil)]),
              );
      return unlessUnmet(
        store.transact([
          update(change),
          statement(before),
          statement(db.insertInto('credential_versions').values(version), 1),
          ...change.also,
        ]),
      );
    },

    ...useOf(deps),

    /**
     * Deletes a credential. False if it is gone or in use by now, or if a platform was changed
     * since `users` read it.
     */
    delete: (
      { user_id, id }: CredentialRow,
      { platforms }: Pick<CredentialUsers, 'platforms'>,
      also: TransactionStep,
    ): Promise<boolean> =>
      unlessUnmet(
        store.transact([
          statement(
            db
              .deleteFrom('credentials')
              .where('user_id', '=', user_id)
              .where('id', '=', id)
              .where(({ not, exists }) => not(exists(credentialUses(store, id))))
              .where(({ not, exists }) => not(exists(platformsBut(store, platforms)))),
            1,
          ),
          also,
        ]),
      ),
  };
};

/** Queries about the use of a credential elsewhere. */
const useOf = (deps: CredentialUsageDeps) => {
  const { db } = deps.store;
  return {
    users: (id: string): Promise<CredentialUsers> => usersOf(deps, id),

    /** True if an outgoing webhook signs with it. */
    signs: async (id: string): Promise<boolean> => {
      const signed = db.selectFrom('webhooks').select('id').where('credential_id', '=', id);
      return (await signed.limit(1).executeTakeFirst()) !== undefined;
    },

    /** True if a model, a forward or a chat platform sends it in a header. */
    isSent: async (id: string): Promise<boolean> => {
      const models = db.selectFrom('models').select('id').where('credential_id', '=', id);
      const forwards = db
        .selectFrom('hooks')
        .select('id')
        .where('action_config', 'like', `%"credentialId":"${id}"%`);
      const sent = await models.unionAll(forwards).limit(1).executeTakeFirst();
      return sent !== undefined || (await isOfPlatform(deps, id));
    },
  };
};

export type CredentialsStore = ReturnType<typeof credentialsStore>;
