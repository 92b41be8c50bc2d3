export interface SessionRow {
  id: string;
  user_id: string;
  title: string;
  channel: string;
  message_count: number;
  /** Something in it came from outside: whoever speaks in it is untrusted. */
  untrusted: number;
  /** Where it is held, and its answers go; null: here. */
  channel_id: string | null;
  created_at: string;
  updated_at: string;
}

export interface MessageRow {
  id: string;
  session_id: string;
  seq: number;
  role: 'user' | 'assistant' | 'tool' | 'system';
  content: string;
  tool_calls: string | null;
  tool_call_id: string | null;
  agent_id: string | null;
  created_at: string;
}

export type AgentStatus =
  | 'queued'
  | 'running'
  | 'waiting_approval'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'stopped';

export interface AgentRow {
  id: string;
  user_id: string;
  name: string;
  topic: string | null;
  role: string | null;
  model: string;
  prompt: string;
  status: AgentStatus;
  untrusted: number;
  parent_id: string | null;
  /** The first of its tree; null: it is that itself. */
  root_id: string | null;
  /** How many are above it. */
  depth: number;
  /** The call of its parent that it answers. */
  effect_id: string | null;
  /** What its parent had worked when it was spawned. */
  parent_ms: number;
  /** JSON: its part of an expert, as it was when the agent began. */
  expert: string | null;
  session_id: string;
  hook_id: string | null;
  execution_id: string | null;
  notify_owner: number;
  orchestrated: number;
  tools: string | null;
  limits: string;
  /** The queue lane whose concurrency this agent counts against. */
  lane: string;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  active_ms: number;
  /** How often what caused it came back to this daemon. */
  hops: number;
  /** Messages that its run has for the owner so far; counted with the first of its tree. */
  notices: number;
  result: string | null;
  error: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/** What a run has said beyond what is told one by one. */
export interface RunNoticeRow {
  id: number;
  agent_id: string;
  line: string;
  created_at: string;
}

export interface AgentEventRow {
  agent_id: string;
  seq: number;
  type: 'agent.status' | 'agent.message' | 'agent.tool_call';
  data: string;
  at: string;
}

/** What the agents of a user, or those of a hook, used up in a day. */
export interface DayRow {
  /** As 2026-03-01, in UTC. */
  day: string;
  cost_usd: number;
  tokens: number;
  steps: number;
}
