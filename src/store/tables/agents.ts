import type { UserRow } from './accounts.js';
import type { PermissionRow } from './permissions.js';
import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export const sessionTable = table('sessions', {
  id: text,
  user_id: text,
  title: text,
  channel: text,
  message_count: preset(number),
  /** 1 if the conversation contains untrusted content. Every agent in it is untrusted then. */
  untrusted: preset(flag),
  /** The channel of the conversation, which gets its results. null: none, it is held here. */
  channel_id: preset(orNull(text)),
  created_at: text,
  updated_at: text,
});
export type SessionRow = Row<typeof sessionTable>;

/** The circumstances of a model's reply that the next request needs. */
export interface Generation {
  /** The number of the newest message that the model had read. Later ones follow the reply. */
  seen: number;
  /** Reasoning that the same model needs back, as `ReplyReasoning`. */
  reasoning?: unknown;
}

export const messageTable = table('messages', {
  id: text,
  session_id: text,
  seq: number,
  role: literal<'user' | 'assistant' | 'tool' | 'system'>(),
  content: text,
  tool_calls: orNull(json()),
  tool_call_id: orNull(text),
  agent_id: orNull(text),
  created_at: text,
  /** How a model's reply came about (`Generation`). */
  generation: preset(orNull(json<Generation>())),
});
export type MessageRow = Row<typeof messageTable>;

export type AgentStatus =
  | 'queued'
  | 'running'
  | 'waiting_approval'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'stopped';

export const agentTable = table('agents', {
  id: text,
  user_id: text,
  name: text,
  topic: orNull(text),
  role: orNull(text),
  model: text,
  prompt: text,
  status: literal<AgentStatus>(),
  untrusted: flag,
  /** 1 if it was untrusted when it gave its last reply, whose calls are judged by that. */
  reply_untrusted: preset(flag),
  parent_id: orNull(text),
  /** The first agent of its tree. null: it is the first itself. */
  root_id: orNull(text),
  /** The number of agents above it. */
  depth: preset(number),
  /** The call of its parent that its result answers. */
  effect_id: orNull(text),
  /** The working time of its parent in milliseconds when it was spawned. */
  parent_ms: preset(number),
  /** The agent's persona as it was when the agent began, as JSON. */
  expert: orNull(json()),
  session_id: text,
  hook_id: orNull(text),
  execution_id: orNull(text),
  notify_owner: flag,
  orchestrated: flag,
  tools: orNull(json<string[]>()),
  limits: json(),
  /** The queue lane whose concurrency limit includes this agent. */
  lane: text,
  steps: preset(number),
  input_tokens: preset(number),
  output_tokens: preset(number),
  cost_usd: preset(number),
  active_ms: preset(number),
  /** The number of times that its cause has come back to this daemon. */
  hops: preset(number),
  /** 1: an agent of a hook that is given its owner's memories; others are given them anyway. */
  memory: preset(flag),
  /** The number of messages of its run for the owner, counted at the first agent of its tree. */
  notices: preset(number),
  result: orNull(text),
  error: orNull(text),
  /** A sentence about the result, such as that it was cut off. */
  note: preset(orNull(text)),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type AgentRow = Row<typeof agentTable>;

/**
 * The rows by which the loop decides: an agent, its owner's permissions and, for a step, its
 * conversation.
 */
export interface AgentSnapshot {
  /** Undefined if the agent was removed. */
  agent: AgentRow | undefined;
  levels: Pick<PermissionRow, 'skill_id' | 'action' | 'level'>[];
  owner: Pick<UserRow, 'role' | 'permissions'> | undefined;
  /** All messages of its session, oldest first; none if they were not asked for. */
  messages: SaidRow[];
  /** True if it may be given memories, and its owner has some. */
  hasMemories: boolean;
  /** The time zone of its owner. */
  timezone: string;
}

export type SaidRow = Pick<
  MessageRow,
  'seq' | 'role' | 'content' | 'tool_calls' | 'tool_call_id' | 'agent_id' | 'generation'
>;

/** The result of beginning or resuming the work of an agent. */
export type AgentBeginning =
  | {
      is: 'begun';
      /** The agent as it was before. */
      agent: AgentRow;
      event: { number: number; data: Record<string, unknown>; at: string };
      /** The facts for its first step, after the beginning. */
      snapshot: AgentSnapshot;
    }
  /** The account of its owner is disabled; nothing was changed. */
  | { is: 'suspended'; agent: AgentRow }
  /** It was paused, stopped, removed or had ended. */
  | { is: 'gone' };

/**
 * A notification of a run above the number that is sent one by one. The run's end sends them as one
 * message.
 */
export const runNoticeTable = table('run_notices', {
  id: preset(number),
  agent_id: text,
  line: text,
  created_at: text,
});
export type RunNoticeRow = Row<typeof runNoticeTable>;

export const agentEventTable = table('agent_events', {
  agent_id: text,
  seq: number,
  type: literal<'agent.status' | 'agent.message' | 'agent.tool_call'>(),
  data: json(),
  at: text,
});
export type AgentEventRow = Row<typeof agentEventTable>;

/** The amount that agents used in a day. */
const day = {
  /** The day as 2026-03-01, in UTC. */
  day: text,
  cost_usd: number,
  tokens: number,
  steps: number,
};
export const dailyUsageTable = table('daily_usage', {
  ...day,
  user_id: text,
  steps: preset(number),
});
export const hookUsageTable = table('hook_usage', { ...day, hook_id: text });
