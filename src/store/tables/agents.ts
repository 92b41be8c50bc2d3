export interface SessionRow {
  id: string;
  user_id: string;
  title: string;
  channel: string;
  message_count: number;
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
  result: string | null;
  error: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface AgentEventRow {
  agent_id: string;
  seq: number;
  type: 'agent.status' | 'agent.message' | 'agent.tool_call';
  data: string;
  at: string;
}
