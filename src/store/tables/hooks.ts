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
  /** A vault entry that replaces a secret of its own. */
  credential_id: string | null;
  enabled: number;
  conditions: string;
  concurrency: number | null;
  cooldown_ms: number;
  max_executions: number | null;
  limits: string | null;
  executions: number;
  /** The number of executions that were not skipped, which maxExecutions limits. */
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
  /** The trigger's data for an execution without a delivery. */
  context: string | null;
  status: ExecutionStatus;
  /** The progress of the effect outside the database. */
  effect: 'none' | 'begun' | 'done';
  result: string | null;
  error: string | null;
  attempts: number;
  agent_id: string | null;
  replay_of: string | null;
  /** The number of times that its cause has come back to this daemon. */
  hops: number;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface DeliveryClaimRow {
  id: number;
  hook_id: string;
  sender_id: string;
  body_digest: Uint8Array;
  execution_id: string;
  delivery_id: string;
  claimed_at: string;
}
