import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import { type PlatformRow, platformTable } from '../store/tables/platforms.js';

export interface CredentialUsageDeps {
  store: Store;
  /** True if a chat platform takes one of its secrets from that credential. */
  platformUses(platform: PlatformRow, credentialId: string): boolean;
}

/** The names of what uses a credential, and the chat platforms as they were at that time. */
export interface CredentialUsers {
  names: string[];
  platforms: PlatformRow[];
}

const MOST = 10;

/** Returns the names of what uses a credential, at most ten. */
export const usersOf = async (
  deps: CredentialUsageDeps,
  credentialId: string,
): Promise<CredentialUsers> => {
  const { store } = deps;
  const platforms = await store.db.selectFrom('platforms').select(platformTable.columns).execute();
  const rows = await credentialUses(store, credentialId).limit(MOST).execute();
  const users = platforms.filter((row) => deps.platformUses(row, credentialId));
  const names = [...rows.map(({ name }) => name), ...users.map(({ kind }) => `platform ${kind}`)];
  return { names: names.slice(0, MOST), platforms };
};

/** True if a chat platform takes one of its secrets from the credential. */
export const isOfPlatform = async (
  deps: CredentialUsageDeps,
  credentialId: string,
): Promise<boolean> => {
  const rows = await deps.store.db.selectFrom('platforms').select(platformTable.columns).execute();
  return rows.some((row) => deps.platformUses(row, credentialId));
};

/**
 * Selects the platforms other than those in `seen`. The credentials that a platform names are
 * sealed, so SQL cannot search them.
 */
export const platformsBut = ({ db }: Pick<Store, 'db'>, seen: PlatformRow[]) =>
  db
    .selectFrom('platforms')
    .select('kind')
    .where(({ and, eb, not, or }) =>
      not(
        or(
          seen.map(({ kind, updated_at }) =>
            and([eb('kind', '=', kind), eb('updated_at', '=', updated_at)]),
          ),
        ),
      ),
    );

/**
 * Selects the names of the hooks, models, webhooks and mail accounts that need the credential, and of
 * the tunnel, which has no name of its own.
 */
export const credentialUses = ({ db }: Pick<Store, 'db'>, credentialId: string) => {
  const hooks = db
    .selectFrom('hooks')
    .innerJoin('credentials', 'credentials.user_id', 'hooks.user_id')
    .select('hooks.name')
    .where('credentials.id', '=', credentialId)
    .where((of) =>
      of.or([
        of('hooks.credential_id', '=', credentialId),
        // A forward names the credential in the settings of its action.
        of('hooks.action_config', 'like', `%"credentialId":"${credentialId}"%`),
        // Arguments of tools give the credential's name in one of two ways.
        sql<boolean>`instr(hooks.action_config, '$credential(' || credentials.name || ')') > 0`,
        sql<boolean>`instr(hooks.action_config, '{"$credential":"' || credentials.name || '"}') > 0`,
      ]),
    );
  const models = db.selectFrom('models').select('name').where('credential_id', '=', credentialId);
  const webhooks = db
    .selectFrom('webhooks')
    .select('name')
    .where('credential_id', '=', credentialId);
  const tunnel = db
    .selectFrom('tunnel')
    .select(sql.lit('the tunnel').as('name'))
    .where('credential_id', '=', credentialId);
  const mail = db
    .selectFrom('mail_accounts')
    .select('address as name')
    .where('credential_id', '=', credentialId);
  return hooks.unionAll(models).unionAll(webhooks).unionAll(tunnel).unionAll(mail);
};
