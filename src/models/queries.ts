import { type RawBuilder, sql } from 'kysely';
import type { Statement } from '../store/engine/protocol.js';
import { writeFact } from '../store/facts.js';
import { type Store, statement } from '../store/store.js';
import type { ModelRow } from '../store/tables/models.js';
import { unchangedSince } from '../store/updateif.js';
import { visibleTo } from '../store/visible.js';
import { DEFAULT_FACT, type RegisteredModel, type TopicRoute } from './registry.js';

/** Null for the models of the installation. */
export type OwnedModel = Pick<RegisteredModel, 'name' | 'orgId'>;

const isOf = (orgId: string | null): RawBuilder<boolean> => sql<boolean>`user_id IS ${orgId}`;

export type ServerRow = Pick<ModelRow, 'id' | 'name' | 'base_url' | 'key_sealed' | 'credential_id'>;

interface UsageFilters {
  by: keyof typeof COLUMNS | 'day';
  since?: string;
  until?: string;
  limit: number;
  cursor?: string;
}

export const modelsStore = (store: Store) => {
  const { db } = store;

  const calls = (userId: string, { since, until }: Pick<UsageFilters, 'since' | 'until'>) => {
    let query = db.selectFrom('model_calls').where(visibleTo(userId));
    if (since !== undefined) query = query.where('at', '>=', since);
    if (until !== undefined) query = query.where('at', '<', until);
    return query.select((of) => [
      of.fn.countAll<number>().as('calls'),
      of.fn.coalesce(of.fn.sum<number>('input_tokens'), of.lit(0)).as('inputTokens'),
      of.fn.coalesce(of.fn.sum<number>('output_tokens'), of.lit(0)).as('outputTokens'),
      of.fn
        .coalesce(of.fn<number>('round', [of.fn.sum('cost_usd'), of.lit(9)]), of.lit(0))
        .as('costUsd'),
    ]);
  };

  return {
    transact: store.transact,

    row: ({ name, orgId }: OwnedModel): Promise<ModelRow | undefined> =>
      db
        .selectFrom('models')
        .selectAll()
        .where('name', '=', name)
        .where(isOf(orgId))
        .executeTakeFirst(),

    /** Null if there is no such organization, or it is not approved. */
    orgBySlug: async (slug: string): Promise<string | null> => {
      const found = db
        .selectFrom('orgs')
        .select('id')
        .where('slug', '=', slug)
        .where('approved_at', 'is not', null);
      return (await found.executeTakeFirst())?.id ?? null;
    },

    newestOf: (provider: ModelRow['provider']): Promise<ServerRow | undefined> =>
      db
        .selectFrom('models')
        .select(['id', 'name', 'base_url', 'key_sealed', 'credential_id'])
        .where('provider', '=', provider)
        .where(isOf(null))
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),

    insert: (row: ModelRow): Statement => statement(db.insertInto('models').values(row), 1),

    /** The statement is unmet if the model changed since it was read. */
    update: (read: ModelRow, changes: Partial<ModelRow>): Statement =>
      statement(
        db
          .updateTable('models')
          .set(changes)
          .where('name', '=', read.name)
          .where(unchangedSince(read)),
        1,
      ),

    delete: ({ name, orgId }: OwnedModel): Statement[] => [
      statement(db.deleteFrom('models').where('name', '=', name).where(isOf(orgId)), 1),
      statement(db.deleteFrom('facts').where('name', '=', DEFAULT_FACT).where('value', '=', name)),
    ],

    setFallbacks: (name: string, fallbacks: string[]): Statement =>
      statement(
        db
          .updateTable('models')
          .set({ fallbacks: JSON.stringify(fallbacks) })
          .where('name', '=', name),
      ),

    setDefault: (name: string): Statement => statement(writeFact(store, DEFAULT_FACT, name)),

    setRoute: ({ topic, primary, fallbacks }: TopicRoute): Statement => {
      const route = { primary, fallbacks: JSON.stringify(fallbacks) };
      return statement(
        db
          .insertInto('model_routes')
          .values({ topic, ...route })
          .onConflict((of) => of.column('topic').doUpdateSet(route)),
      );
    },

    removeRoute: (topic: string): Statement =>
      statement(db.deleteFrom('model_routes').where('topic', '=', topic)),

    usage: async (userId: string, filters: UsageFilters) => {
      const { by, limit, cursor } = filters;
      const grouped = calls(userId, filters)
        .select((of) =>
          by === 'day'
            ? of.fn<string>('substr', ['at', of.lit(1), of.lit(10)]).as('key')
            : of.ref(COLUMNS[by]).$castTo<string>().as('key'),
        )
        .groupBy('key');
      let query = db.selectFrom(grouped.as('of')).selectAll().where('key', 'is not', null);
      if (cursor !== undefined) query = query.where('key', '<', cursor);
      const [rows, total] = await Promise.all([
        query
          .orderBy('key', 'desc')
          .limit(limit + 1)
          .execute(),
        calls(userId, filters).executeTakeFirst(),
      ]);
      return { rows, total };
    },
  };
};

const COLUMNS = { model: 'model', agent: 'agent_id', hook: 'hook_id' } as const;

export type ModelsStore = ReturnType<typeof modelsStore>;
