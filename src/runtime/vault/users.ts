import { sql } from 'kysely';
import type { Store } from '../../store/store.js';

const MOST = 10;

/** The names of the hooks, models and outgoing webhooks that use a credential, at most ten. */
export const usersOf = async (store: Store, credentialId: string): Promise<string[]> => {
  const rows = await usage(store, credentialId).limit(MOST).execute();
  return rows.map(({ name }) => name);
};

/** What would stop without it, by its name; the tunnel has none of its own. */
export const usage = ({ db }: Pick<Store, 'db'>, credentialId: string) => {
  const hooks = db
    .selectFrom('hooks')
    .select('name')
    .where((of) =>
      of.or([
        of('credential_id', '=', credentialId),
        // A forward names it among the settings of its action.
        of('action_config', 'like', `%"credentialId":"${credentialId}"%`),
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
