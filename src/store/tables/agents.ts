export interface SessionRow {
  id: string;
  user_id: string;
  title: string;
  channel: string;
  message_count: number;
  /** 1 if the conversation contains untrusted content. Every agent in it is untrusted then. */
  untrusted: number;
  /** The channel of the conversation, which gets its answers. null: none, it is held here. */
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
  /** The first agent of its tree. null: it is the first itself. */
  root_id: string | null;
  /** The number of agents above it. */
  depth: number;
  /** The call of its parent that its result answers. */
  effect_id: string | null;
  /** The working time of its parent in milliseconds when it was spawned. */
  parent_ms: number;
  /** The agent's persona as it was when the agent began, as JSON. */
  expert: string | null;
  session_id: string;
  hook_id: string | null;
  execution_id: string | null;
  notify_owner: number;
  orchestrated: number;
  tools: string | null;
  limits: string;
  /** The queue lane whose concurrency limit includes this agent. */
  lane: string;
  steps: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  active_ms: number;
  /** The number of times that its cause has come back to this daemon. */
  hops: number;
  /** The number of messages of its run for the owner, counted at the first agent of its tree. */
  notices: number;
  result: string | null;
  error: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

/**
 * A notification of a run above the number that is sent one by one. The run's end sends them as one
 * message.
 */
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

/** The amount that the agents of a user, or those of a hook, used in a day. */
export interface DayRow {
  /** The day as 2026-03-01, in UTC. */
  day: string;
  cost_usd: number;
  tokens: number;
  steps: number;
}
