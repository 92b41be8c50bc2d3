import type { ToolCall, Turn } from '../../providers/llm/model.js';
import type { Store } from '../../store/store.js';
import type { AgentRow } from '../../store/tables.js';
import type { AgentEvent } from './record.js';

export const agentColumns = [
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
  'result',
  'error',
  'created_at',
  'started_at',
  'finished_at',
] as const;

/** What the agent runtime asks the database. */
export const agentRows = ({ db }: Store) => ({
  byId: (id: string): Promise<AgentRow | undefined> =>
    db.selectFrom('agents').select(agentColumns).where('id', '=', id).executeTakeFirst(),

  /** The user's own agent, or nothing. */
  owned: (userId: string, id: string): Promise<AgentRow | undefined> =>
    db
      .selectFrom('agents')
      .select(agentColumns)
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .executeTakeFirst(),

  /** The whole conversation as a model reads it, and how many messages that were. */
  turns: async (sessionId: string): Promise<{ turns: Turn[]; count: number }> => {
    const rows = await db
      .selectFrom('messages')
      .select(['seq', 'role', 'content', 'tool_calls', 'tool_call_id'])
      .where('session_id', '=', sessionId)
      .orderBy('seq')
      .execute();
    const names = new Map<string, string>();
    const turns = rows.map((row): Turn => {
      const calls: ToolCall[] = row.tool_calls === null ? [] : JSON.parse(row.tool_calls);
      for (const call of calls) names.set(call.id, call.name);
      if (row.role === 'assistant') {
        return { role: 'assistant', content: row.content, toolCalls: calls };
      }
      if (row.role !== 'tool') return { role: row.role, content: row.content };
      const id = row.tool_call_id ?? '';
      return { role: 'tool', toolCallId: id, toolName: names.get(id) ?? '', content: row.content };
    });
    return { turns, count: rows.at(-1)?.seq ?? 0 };
  },

  /** Events newer than `after`, oldest first, with the ends of the ring. */
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
      lastId: ends?.newest ?? 0,
      oldestId,
      gap: after + 1 < oldestId,
    };
  },

  /** USD spent by the user's agents that day. */
  spentOn: async (userId: string, day: string): Promise<number> => {
    const row = await db
      .selectFrom('daily_usage')
      .select('cost_usd')
      .where('user_id', '=', userId)
      .where('day', '=', day)
      .executeTakeFirst();
    return row?.cost_usd ?? 0;
  },
});

export type AgentRows = ReturnType<typeof agentRows>;

export interface EventsPage {
  events: AgentEvent[];
  /** Number of the newest event there is, 0 = none. */
  lastId: number;
  /** Number of the oldest event still kept. */
  oldestId: number;
  /** Events between `after` and the oldest kept were dropped by the ring. */
  gap: boolean;
}
