import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import { countRows, deleteRows, selectRows, updateRows } from '../store/rows.js';
import { statement } from '../store/store.js';
import {
  type CredentialRow,
  type CredentialVersionRow,
  credentialTable,
  credentialVersionTable,
} from '../store/tables/vault.js';
import { unchangedSince } from '../store/updateif.js';
import { visibleTo } from '../store/visible.js';
import {
  type CredentialUsageDeps,
  type CredentialUsers,
  credentialUsers,
  credentialUses,
  isPlatformCredential,
  otherPlatforms,
} from './usage.js';

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
      updateRows(db, credentialTable, { user_id: read.user_id, id: read.id })
        .set(changes)
        .where(unchangedSince(read)),
      1,
    );

  const versions = (userId: string, of: Partial<CredentialVersionRow>) =>
    selectRows(db, credentialVersionTable, of, visibleTo(userId));

  return {
    list: (
      userId: string,
      { type, ...page }: PageInput & { type?: CredentialRow['type'] },
    ): Promise<Page<CredentialRow>> =>
      newestFirst(selectRows(db, credentialTable, { type }, visibleTo(userId)), page),

    get: (userId: string, id: string): Promise<CredentialRow | undefined> =>
      selectRows(db, credentialTable, { id }, visibleTo(userId)).executeTakeFirst(),
    version: (
      userId: string,
      id: string,
      version: number,
    ): Promise<CredentialVersionRow | undefined> =>
      versions(userId, { credential_id: id, version }).executeTakeFirst(),

    /** Valid versions, newest first. */
    versions: (userId: string, id: string, at: string): Promise<CredentialVersionRow[]> =>
      versions(userId, { credential_id: id })
        .where((of) => of.or([of('valid_until', 'is', null), of('valid_until', '>', at)]))
        .orderBy('version', 'desc')
        .execute(),

    count: (userId: string): Promise<number> =>
      countRows(db, credentialTable, {}, visibleTo(userId)),
    /** Throws Taken if the user already has a credential with that name. */
    insert: (row: CredentialRow, version: CredentialVersionRow, also: TransactionStep) =>
      store.transact([
        statement(db.insertInto('credentials').values(row), 1),
        statement(db.insertInto('credential_versions').values(version), 1),
        also,
      ]),

    /** False if the credential was changed or deleted since it was read. Throws Taken. */
    update: (change: CredentialChange): Promise<boolean> =>
      store.tryTransact([update(change), ...change.also]),

    /**
     * Same result and errors as `update`. Earlier versions are valid until `overlapUntil` at most; with
     * null they are destroyed at once.
     */
    rotate: (
      change: CredentialChange,
      version: CredentialVersionRow,
      overlapUntil: string | null,
    ): Promise<boolean> => {
      const older = { credential_id: change.read.id };
      const before =
        overlapUntil === null
          ? deleteRows(db, credentialVersionTable, older)
          : updateRows(db, credentialVersionTable, older)
              .set({ valid_until: overlapUntil })
              .where((of) =>
                of.or([of('valid_until', 'is', null), of('valid_until', '>', overlapUntil)]),
              );
      return store.tryTransact([
        update(change),
        statement(before),
        statement(db.insertInto('credential_versions').values(version), 1),
        ...change.also,
      ]);
    },

    ...createUsageQueries(deps),

    /** False if it is gone or in use, or if a platform was changed since `users` read it. */
    delete: (
      { user_id, id }: CredentialRow,
      { platforms }: Pick<CredentialUsers, 'platforms'>,
      also: TransactionStep,
    ): Promise<boolean> =>
      store.tryTransact([
        statement(
          deleteRows(db, credentialTable, { user_id, id })
            .where(({ not, exists }) => not(exists(credentialUses(store, id))))
            .where(({ not, exists }) => not(exists(otherPlatforms(store, platforms)))),
          1,
        ),
        also,
      ]),
  };
};

const createUsageQueries = (deps: CredentialUsageDeps) => {
  const { db } = deps.store;
  return {
    users: (id: string): Promise<CredentialUsers> => credentialUsers(deps, id),

    /** True if an outgoing webhook signs with the credential. */
    signs: async (id: string): Promise<boolean> => {
      const signed = db.selectFrom('webhooks').select('id').where('credential_id', '=', id);
      return (await signed.limit(1).executeTakeFirst()) !== undefined;
    },

    /** True if a model, a forward or a chat platform sends the credential in a header. */
    isSent: async (id: string): Promise<boolean> => {
      const models = db.selectFrom('models').select('id').where('credential_id', '=', id);
      const forwards = db
        .selectFrom('hooks')
        .select('id')
        .where('action_config', 'like', `%"credentialId":"${id}"%`);
      const sent = await models.unionAll(forwards).limit(1).executeTakeFirst();
      return sent !== undefined || (await isPlatformCredential(deps, id));
    },
  };
};

export type CredentialsStore = ReturnType<typeof credentialsStore>;
