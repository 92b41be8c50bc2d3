import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { UNFINISHED } from './agent.js';
import type { AgentEvent } from './record.js';
import type { SaidRow } from './turns.js';

export const agentColumnNames = [
  'id',
  'user_id',
  'name',
  'topic',
  'role',
  'model',
  'prompt',
  'status',
  'untrusted',
  'parent_id',
  'root_id',
  'depth',
  'effect_id',
  'parent_ms',
  'expert',
  'session_id',
  'hook_id',
  'execution_id',
  'notify_owner',
  'orchestrated',
  'tools',
  'limits',
  'lane',
  'steps',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'active_ms',
  'hops',
  'notices',
  'result',
  'error',
  'created_at',
  'started_at',
  'finished_at',
] as const;

/** Returns a condition that holds for all sub-agents of an agent, at any depth. */
export const isUnder = (id: string) =>
  sql<boolean>`agents.id IN (WITH RECURSIVE under (id) AS (
      SELECT id FROM agents WHERE parent_id = ${id}
      UNION ALL SELECT a.id FROM agents AS a JOIN under AS u ON a.parent_id = u.id)
    SELECT id FROM under)`;

/** Returns the queries of the agent runtime. */
export const agentRows = ({ db }: Store) => ({
  byId: (id: string): Promise<AgentRow | undefined> =>
    db.selectFrom('agents').select(agentColumnNames).where('id', '=', id).executeTakeFirst(),

  /** Returns sub-agents by the calls that they answer. */
  byEffects: (effects: string[]): Promise<AgentRow[]> =>
    effects.length === 0
      ? Promise.resolve([])
      : db
          .selectFrom('agents')
          .select(agentColumnNames)
          .where('effect_id', 'in', effects)
          .execute(),

  /** Returns all sub-agents of an agent, those above others first. */
  under: (id: string): Promise<AgentRow[]> =>
    db.selectFrom('agents').select(agentColumnNames).where(isUnder(id)).orderBy('depth').execute(),

  /** Returns the agent if it belongs to the user. */
  owned: (userId: string, id: string): Promise<AgentRow | undefined> =>
    db
      .selectFrom('agents')
      .select(agentColumnNames)
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .executeTakeFirst(),

  /** Returns the user's agents that have not finished. */
  unfinished: (userId: string): Promise<AgentRow[]> =>
    db
      .selectFrom('agents')
      .select(agentColumnNames)
      .where('user_id', '=', userId)
      .where('status', 'in', UNFINISHED)
      .execute(),

  /** Returns true if the account is disabled; then nothing of the user's runs. */
  isSuspended: async (userId: string): Promise<boolean> => {
    const row = await db
      .selectFrom('users')
      .select('disabled_at')
      .where('id', '=', userId)
      .executeTakeFirst();
    return row?.disabled_at !== null;
  },

  /** Returns all messages of a session, oldest first. */
  messages: (sessionId: string): Promise<SaidRow[]> =>
    db
      .selectFrom('messages')
      .select(['seq', 'role', 'content', 'tool_calls', 'tool_call_id', 'agent_id'])
      .where('session_id', '=', sessionId)
      .orderBy('seq')
      .execute(),

  /** Returns the session if it belongs to the user. */
  session: (userId: string, id: string) =>
    db
      .selectFrom('sessions')
      .select(['id', 'channel'])
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .executeTakeFirst(),

  /**
   * Returns the agent that a message to the session is for: the one at work in it, otherwise the
   * newest.
   */
  speaker: (userId: string, sessionId: string): Promise<AgentRow | undefined> =>
    db
      .selectFrom('agents')
      .select(agentColumnNames)
      .where('user_id', '=', userId)
      .where('session_id', '=', sessionId)
      .orderBy((of) => of('status', 'in', UNFINISHED), 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst(),

  /** Returns the ids of the calls that the agent has begun, as far back as its ring reaches. */
  begunCalls: async (agentId: string): Promise<Set<unknown>> => {
    const rows = await db
      .selectFrom('agent_events')
      .select('data')
      .where('agent_id', '=', agentId)
      .where('type', '=', 'agent.tool_call')
      .execute();
    const events = rows.map(({ data }) => JSON.parse(data));
    return new Set(events.filter(({ phase }) => phase === 'call').map(({ callId }) => callId));
  },

  /** Returns events newer than `after`, oldest first, with the ends of the ring. */
  events: async (agentId: string, after: number, limit: number): Promise<EventsPage> => {
    const rows = await db
      .selectFrom('agent_events')
      .select(['seq', 'type', 'data', 'at'])
      .where('agent_id', '=', agentId)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(limit)
      .execute();
    const ends = await db
      .selectFrom('agent_events')
      .select((of) => [of.fn.min('seq').as('oldest'), of.fn.max('seq').as('newest')])
      .where('agent_id', '=', agentId)
      .executeTakeFirst();
    const oldestId = ends?.oldest ?? 0;
    return {
      events: rows.map(({ seq, type, data, at }) => ({
        id: seq,
        type,
        agentId,
        data: JSON.parse(data),
        at,
      })),
      lastId: rows.at(-1)?.seq ?? ends?.newest ?? 0,
      oldestId,
      gap: (rows[0]?.seq ?? 0) > after + 1,
    };
  },
});

export type AgentRows = ReturnType<typeof agentRows>;

export interface EventsPage {
  events: AgentEvent[];
  /**
   * The number of the last event returned: the next `after`. If none is returned, the number of the
   * newest event.
   */
  lastId: number;
  /** The number of the oldest event that is still stored. */
  oldestId: number;
  /** True if the ring dropped events between `after` and the oldest stored one. */
  gap: boolean;
}
