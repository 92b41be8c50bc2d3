import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import { type PlatformRow, platformTable } from '../store/tables/platforms.js';

export interface CredentialUsageDeps {
  store: Store;
  /** True if a secret of the platform is that credential. */
  platformUses(platform: PlatformRow, credentialId: string): boolean;
}

/** Names of what uses a credential, and the platforms at that time. */
export interface CredentialUsers {
  names: string[];
  platforms: PlatformRow[];
}

const MAX_NAMED = 10;

/** At most ten names. */
export const credentialUsers = async (
  deps: CredentialUsageDeps,
  credentialId: string,
): Promise<CredentialUsers> => {
  const { store } = deps;
  const platforms = await store.db.selectFrom('platforms').select(platformTable.columns).execute();
  const rows = await credentialUses(store, credentialId).limit(MAX_NAMED).execute();
  const users = platforms.filter((row) => deps.platformUses(row, credentialId));
  const names = [...rows.map(({ name }) => name), ...users.map(({ kind }) => `platform ${kind}`)];
  return { names: names.slice(0, MAX_NAMED), platforms };
};

export const isPlatformCredential = async (
  deps: CredentialUsageDeps,
  credentialId: string,
): Promise<boolean> => {
  const rows = await deps.store.db.selectFrom('platforms').select(platformTable.columns).execute();
  return rows.some((row) => deps.platformUses(row, credentialId));
};

/** Platforms other than those in `seen`. Their credentials are sealed, so SQL cannot search them. */
export const otherPlatforms = ({ db }: Pick<Store, 'db'>, seen: PlatformRow[]) =>
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

/** Names of the hooks, models, webhooks and mail accounts that use the credential, and `the tunnel`. */
export const credentialUses = ({ db }: Pick<Store, 'db'>, credentialId: string) => {
  const hooks = db
    .selectFrom('hooks')
    .innerJoin('credentials', 'credentials.user_id', 'hooks.user_id')
    .select('hooks.name')
    .where('credentials.id', '=', credentialId)
    .where((of) =>
      of.or([
        of('hooks.credential_id', '=', credentialId),
        // A forward contains the ID in its settings.
        of('hooks.action_config', 'like', `%"credentialId":"${credentialId}"%`),
        // Arguments of tools contain the name in one of two forms.
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
