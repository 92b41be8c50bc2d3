import { sql } from 'kysely';
import type { Input, Output } from '../kernel/contract/endpoint.js';
import { newestFirst } from '../store/page.js';
import type { Store } from '../store/store.js';
import { type AgentRow, agentTable } from '../store/tables/agents.js';
import { visibleTo } from '../store/visible.js';
import { UNFINISHED } from './agent.js';
import type { agents as contract } from './contract.js';

export const isSubAgentOf = (id: string) =>
  sql<boolean>`agents.id IN (WITH RECURSIVE under (id) AS (
      SELECT id FROM agents WHERE parent_id = ${id}
      UNION ALL SELECT a.id FROM agents AS a JOIN under AS u ON a.parent_id = u.id)
    SELECT id FROM under)`;

export const agentRows = ({ db }: Store) => {
  const agents = () => db.selectFrom('agents').select(agentTable.columns);
  const visible = (userId: string) => agents().where(visibleTo(userId));
  const eventsOf = (id: string) => db.selectFrom('agent_events').where('agent_id', '=', id);

  return {
    byId: (id: string): Promise<AgentRow | undefined> =>
      agents().where('id', '=', id).executeTakeFirst(),

    byEffects: async (effects: string[]): Promise<AgentRow[]> =>
      effects.length === 0 ? [] : agents().where('effect_id', 'in', effects).execute(),

    /** Parents first. */
    under: (id: string): Promise<AgentRow[]> =>
      agents().where(isSubAgentOf(id)).orderBy('depth').execute(),

    owned: (userId: string, id: string): Promise<AgentRow | undefined> =>
      visible(userId).where('id', '=', id).executeTakeFirst(),

    list: (userId: string, filters: Input<typeof contract.list>['query']) => {
      const { status, topic, hookId, executionId, sessionId, rootId, untrusted } = filters;
      const named = visible(userId).where((of) =>
        of.and({
          status,
          topic,
          hook_id: hookId,
          execution_id: executionId,
          session_id: sessionId,
          untrusted: untrusted === undefined ? undefined : Number(untrusted),
        }),
      );
      if (rootId === undefined) return newestFirst(named, filters);
      const tree = named.where((of) =>
        of.or([of('id', '=', rootId), of('root_id', '=', rootId), isSubAgentOf(rootId)]),
      );
      return newestFirst(tree, filters);
    },

    unfinished: (userId: string): Promise<AgentRow[]> =>
      visible(userId).where('status', 'in', UNFINISHED).execute(),

    session: (userId: string, id: string) =>
      db
        .selectFrom('sessions')
        .select(['id', 'channel'])
        .where(visibleTo(userId))
        .where('id', '=', id)
        .executeTakeFirst(),

    /** The active agent of the session, or the newest. */
    speaker: (userId: string, sessionId: string): Promise<AgentRow | undefined> =>
      visible(userId)
        .where('session_id', '=', sessionId)
        .orderBy((of) => of('status', 'in', UNFINISHED), 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),

    /** IDs of started calls, as far back as the ring buffer reaches. */
    begunCalls: async (agentId: string): Promise<Set<unknown>> => {
      const calls = eventsOf(agentId).select('data').where('type', '=', 'agent.tool_call');
      const events = (await calls.execute()).map(({ data }) => JSON.parse(data));
      return new Set(events.filter(({ phase }) => phase === 'call').map(({ callId }) => callId));
    },

    events: async (
      agentId: string,
      after: number,
      limit: number,
    ): Promise<Output<typeof contract.events>> => {
      const rows = await eventsOf(agentId)
        .select(['seq', 'type', 'data', 'at'])
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(limit)
        .execute();
      const ends = await eventsOf(agentId)
        .select((of) => [of.fn.min('seq').as('oldest'), of.fn.max('seq').as('newest')])
        .executeTakeFirst();
      return {
        events: rows.map(({ seq: id, type, data, at }) => {
          return { id, type, agentId, data: JSON.parse(data), at };
        }),
        lastId: rows.at(-1)?.seq ?? ends?.newest ?? 0,
        oldestId: ends?.oldest ?? 0,
        gap: (rows[0]?.seq ?? 0) > after + 1,
      };
    },
  };
};

export type AgentRows = ReturnType<typeof agentRows>;
