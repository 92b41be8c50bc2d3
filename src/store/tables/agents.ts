import type { UserRow } from './accounts.js';
import type { PermissionRow } from './permissions.js';
import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export const sessionTable = table('sessions', {
  id: text,
  user_id: text,
  title: text,
  channel: text,
  message_count: preset(number),
  /** Whether the conversation contains untrusted content, which makes all its agents untrusted. */
  untrusted: preset(flag),
  /** Channel that receives results. Null if the conversation is only in Adjutant. */
  channel_id: preset(orNull(text)),
  created_at: text,
  updated_at: text,
});
export type SessionRow = Row<typeof sessionTable>;

export interface Generation {
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
  /** Whether the agent was untrusted at its last reply. Its calls are judged by that. */
  reply_untrusted: preset(flag),
  parent_id: orNull(text),
  /** Root of the tree. Null for the root itself. */
  root_id: orNull(text),
  depth: preset(number),
  effect_id: orNull(text),
  /** Working time of the parent at the spawn, in milliseconds. */
  parent_ms: preset(number),
  /** Persona at the start of the agent, as JSON. */
  expert: orNull(json()),
  session_id: text,
  hook_id: orNull(text),
  execution_id: orNull(text),
  notify_owner: flag,
  orchestrated: flag,
  tools: orNull(json<string[]>()),
  limits: json(),
  /** Of an organization: the member who started the agent. */
  member_id: preset(orNull(text)),
  lane: text,
  steps: preset(number),
  input_tokens: preset(number),
  output_tokens: preset(number),
  cost_usd: preset(number),
  active_ms: preset(number),
  /** How often its cause has passed through this daemon. */
  hops: preset(number),
  /** Whether an agent of a hook receives memories. Others always do. */
  memory: preset(flag),
  notices: preset(number),
  result: orNull(text),
  error: orNull(text),
  note: preset(orNull(text)),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type AgentRow = Row<typeof agentTable>;

export interface AgentSnapshot {
  agent: AgentRow | undefined;
  levels: Pick<PermissionRow, 'skill_id' | 'action' | 'level'>[];
  owner: Pick<UserRow, 'role' | 'permissions'> | undefined;
  /** Oldest first. Empty if not requested. */
  messages: TranscriptMessageRow[];
  /** Whether the agent may receive memories, and the owner has some. */
  hasMemories: boolean;
  timezone: string;
}

export type TranscriptMessageRow = Pick<
  MessageRow,
  'seq' | 'role' | 'content' | 'tool_calls' | 'tool_call_id' | 'agent_id' | 'generation'
>;

export type AgentBeginning =
  | {
      is: 'begun';
      agent: AgentRow;
      event: { number: number; data: Record<string, unknown>; at: string };
      snapshot: AgentSnapshot;
    }
  /** The account of the owner is disabled. Nothing was changed. */
  | { is: 'suspended'; agent: AgentRow }
  /** Paused, stopped, removed or ended. */
  | { is: 'gone' };

/** Notifications of a run above the limit. They are sent as one message at its end. */
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

const day = {
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
