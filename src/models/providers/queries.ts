import type { Store } from '../../store/store.js';
import type { ModelRow } from '../../store/tables/models.js';

export type ServerRow = Pick<ModelRow, 'id' | 'name' | 'base_url' | 'key_sealed' | 'credential_id'>;

export const providersStore = ({ db }: Store) => ({
  /** Returns the newest model of a provider, with the address and the key of its server. */
  newestOf: (provider: ModelRow['provider']): Promise<ServerRow | undefined> =>
    db
      .selectFrom('models')
      .select(['id', 'name', 'base_url', 'key_sealed', 'credential_id'])
      .where('provider', '=', provider)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst(),
});

export type ProvidersStore = ReturnType<typeof providersStore>;
