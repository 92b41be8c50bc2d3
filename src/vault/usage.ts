import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import { type PlatformRow, platformColumns } from '../store/tables/platforms.js';

export interface CredentialUsageDeps {
  store: Store;
  /** Tells whether a chat platform takes one of its secrets from that credential. */
  platformUses(platform: PlatformRow, credentialId: string): boolean;
}

/** Who uses a credential, and the chat platforms as they were then. */
export interface CredentialUsers {
  names: string[];
  platforms: PlatformRow[];
}

const MOST = 10;

/** The names of what uses a credential, at most ten. */
export const usersOf = async (
  deps: CredentialUsageDeps,
  credentialId: string,
): Promise<CredentialUsers> => {
  const { store } = deps;
  const platforms = await store.db.selectFrom('platforms').select(platformColumns).execute();
  const rows = await credentialUses(store, credentialId).limit(MOST).execute();
  const users = platforms.filter((row) => deps.platformUses(row, credentialId));
  const names = [...rows.map(({ name }) => name), ...users.map(({ kind }) => `platform ${kind}`)];
  return { names: names.slice(0, MOST), platforms };
};

/** Whether one of the secrets of the chat platforms comes from it. */
export const isOfPlatform = async (
  deps: CredentialUsageDeps,
  credentialId: string,
): Promise<boolean> => {
  const rows = await deps.store.db.selectFrom('platforms').select(platformColumns).execute();
  return rows.some((row) => deps.platformUses(row, credentialId));
};

/** Platforms but those that were seen: what they name is sealed, and no statement looks into it. */
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

/** What of the tables would stop without it, by its name; the tunnel has none of its own. */
export const credentialUses = ({ db }: Pick<Store, 'db'>, credentialId: string) => {
  const hooks = db
    .selectFrom('hooks')
    .innerJoin('credentials', 'credentials.user_id', 'hooks.user_id')
    .select('hooks.name')
    .where('credentials.id', '=', credentialId)
    .where((of) =>
      of.or([
        of('hooks.credential_id', '=', credentialId),
        // A forward names it among the settings of its action.
        of('hooks.action_config', 'like', `%"credentialId":"${credentialId}"%`),
        // Arguments of tools name it as its owner calls it, in one of two ways.
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
  return hooks.unionAll(models).unionAll(webhooks).unionAll(tunnel);
};
