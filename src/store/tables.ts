import type { Generated } from 'kysely';

/** Rows as SQLite holds them: JSON and times are TEXT, booleans 0 or 1. */
export interface Tables {
  users: UserRow;
  auth_sessions: AuthSessionRow;
  login_failures: { account: string; address: string; count: number; last_at: string };
  signing_keys: { id: string; sealed: string; created_at: string };
  facts: { name: string; value: string };
  idempotency: IdempotencyRow;
  jobs: Given<JobRow, 'id' | 'attempts' | 'boot'>;
  hooks: Given<HookRow, 'executions' | 'runs'>;
  deliveries: DeliveryRow;
  executions: Given<ExecutionRow, 'effect' | 'attempts'>;
  delivery_claims: DeliveryClaimRow;
  sessions: Given<SessionRow, 'message_count'>;
  messages: MessageRow;
  agents: Given<AgentRow, 'steps' | 'input_tokens' | 'output_tokens' | 'cost_usd' | 'active_ms'>;
  agent_events: AgentEventRow;
  daily_usage: { user_id: string; day: string; cost_usd: number; tokens: number };
  notifications: NotificationRow;
  totp: TotpRow;
  recovery_codes: { user_id: string; digest: string; used_at: string | null };
  passkeys: PasskeyRow;
  passkey_challenges: PasskeyChallengeRow;
  passkey_grants: PasskeyGrantRow;
}

/** Columns that the database fills in where an insert leaves them out. */
type Given<Row, K extends keyof Row> = Omit<Row, K> & { [P in K]: Generated<Row[P]> };

export interface UserRow {
  id: string;
  username: string;
  /** NFKC, case folded: what makes a name unique. */
  username_key: string;
  email: string | null;
  email_key: string | null;
  password_hash: string;
  role: 'admin' | 'user';
  disabled_at: string | null;
  created_at: string;
}

export interface AuthSessionRow {
  id: string;
  user_id: string;
  device: string | null;
  created_at: string;
  expires_at: string;
  ended_at: string | null;
}

export interface IdempotencyRow {
  user_id: string;
  route: string;
  key: string;
  body_digest: string;
  /** null while the first call is still at work. */
  status: number | null;
  reply: string | null;
  created_at: string;
}

export interface JobRow {
  id: number;
  kind: string;
  ref: string;
  lane: string;
  run_at: string;
  attempts: number;
  boot: string | null;
}

export interface HookRow {
  id: string;
  user_id: string;
  name: string;
  description: string | null;
  trigger: 'webhook' | 'schedule' | 'agent_completed' | 'agent_failed' | 'approval_requested';
  trigger_config: string;
  action: 'spawn_agent' | 'notify' | 'webhook' | 'execute_tool';
  action_config: string;
  webhook_path: string | null;
  secret_sealed: string | null;
  old_secret_sealed: string | null;
  old_secret_until: string | null;
  old_secret_last_used_at: string | null;
  enabled: number;
  conditions: string;
  concurrency: number | null;
  cooldown_ms: number;
  max_executions: number | null;
  limits: string | null;
  executions: number;
  /** Executions that were not skipped: what maxExecutions counts. */
  runs: number;
  last_run_at: string | null;
  next_run_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface DeliveryRow {
  id: string;
  path: string;
  method: string;
  headers: string;
  /** The payload's text, exactly as received and verified. */
  body: string;
  event: string | null;
  sender_id: string | null;
  received_at: string;
}

export type ExecutionStatus =
  | 'queued'
  | 'running'
  | 'success'
  | 'error'
  | 'skipped'
  | 'interrupted';

export interface ExecutionRow {
  id: string;
  hook_id: string;
  user_id: string;
  delivery_id: string | null;
  trigger: HookRow['trigger'];
  action: HookRow['action'];
  /** What fired a hook that no delivery fired. */
  context: string | null;
  status: ExecutionStatus;
  /** How far the effect outside the database has come. */
  effect: 'none' | 'begun' | 'done';
  result: string | null;
  error: string | null;
  attempts: number;
  agent_id: string | null;
  replay_of: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface DeliveryClaimRow {
  hook_id: string;
  sender_id: string;
  body_digest: string;
  execution_id: string;
  delivery_id: string;
  claimed_at: string;
}

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

export interface NotificationRow {
  id: string;
  user_id: string;
  kind: string;
  title: string;
  body: string;
  link: string | null;
  /** Of the effect that it is, so that a repeat of it tells nobody twice. */
  effect_id: string | null;
  read_at: string | null;
  created_at: string;
}

export interface PasskeyRow {
  id: string;
  user_id: string;
  name: string;
  relying_party: string;
  /** base64url, as the public key (COSE). */
  credential_id: string;
  public_key: string;
  counter: number;
  transports: string;
  created_at: string;
  last_used_at: string | null;
}

export interface PasskeyChallengeRow {
  /** A registration has the id of its session. */
  id: string;
  purpose: 'register' | 'authenticate';
  /** null: whoever answers. Text that is no id: nobody. */
  user_id: string | null;
  relying_party: string;
  challenge: string;
  expires_at: string;
}

export interface PasskeyGrantRow {
  code_digest: string;
  user_id: string;
  session_id: string;
  /** SHA-256 of the verifier, base64url. */
  challenge: string;
  expires_at: string;
}

export interface TotpRow {
  user_id: string;
  sealed: string;
  /** null: set up, and no code was seen yet. */
  enabled_at: string | null;
  /** The newest time step used, for each purpose of its own. */
  enable_step: number | null;
  login_step: number | null;
  disable_step: number | null;
  created_at: string;
}
