import type { SharedText } from '../../kernel/sharedtext.js';
import {
  bytes,
  flag,
  json,
  literal,
  number,
  orNull,
  preset,
  type Row,
  table,
  text,
} from './table.js';

export const hookTable = table('hooks', {
  id: text,
  user_id: text,
  name: text,
  description: orNull(text),
  trigger: literal<
    'webhook' | 'schedule' | 'agent_completed' | 'agent_failed' | 'approval_requested' | 'email'
  >(),
  trigger_config: json(),
  action: literal<'spawn_agent' | 'notify' | 'webhook' | 'execute_tool' | 'start_pipeline'>(),
  action_config: json(),
  webhook_path: orNull(text),
  secret_sealed: orNull(text),
  old_secret_sealed: orNull(text),
  old_secret_until: orNull(text),
  old_secret_last_used_at: orNull(text),
  credential_id: orNull(text),
  enabled: flag,
  conditions: json(),
  concurrency: orNull(number),
  cooldown_ms: number,
  max_executions: orNull(number),
  limits: orNull(json()),
  executions: preset(number),
  /** Executions that were not skipped. Limited by maxExecutions. */
  runs: preset(number),
  last_run_at: orNull(text),
  next_run_at: orNull(text),
  created_at: text,
  updated_at: text,
});
export type HookRow = Row<typeof hookTable>;

export const deliveryTable = table('deliveries', {
  id: text,
  path: text,
  method: text,
  headers: json(),
  /** Exactly as received and verified. */
  body: text,
  query: preset(orNull(json())),
  event: orNull(text),
  sender_id: orNull(text),
  received_at: text,
});
export type DeliveryRow = Row<typeof deliveryTable>;

export type ExecutionStatus =
  | 'queued'
  | 'running'
  | 'success'
  | 'error'
  | 'skipped'
  | 'interrupted';

export const executionTable = table('executions', {
  id: text,
  hook_id: text,
  user_id: text,
  delivery_id: orNull(text),
  trigger: literal<HookRow['trigger']>(),
  action: literal<HookRow['action']>(),
  context: orNull(json()),
  status: literal<ExecutionStatus>(),
  /** Progress of the effect outside the database. */
  effect: preset(literal<'none' | 'begun' | 'done'>()),
  result: orNull(json()),
  error: orNull(text),
  attempts: preset(number),
  agent_id: orNull(text),
  replay_of: orNull(text),
  /** How often its cause has passed through this daemon. */
  hops: preset(number),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
  run_at: preset(orNull(text)),
  boot: preset(orNull(text)),
});
export type ExecutionRow = Row<typeof executionTable>;

export interface ClaimedHook extends HookRow {
  suspended_at: string | null;
}

export interface ClaimedExecution {
  execution: ExecutionRow;
  /** Shared by all executions of the hook in one claim. */
  hook: ClaimedHook;
  delivery: LoadedDelivery | null;
}

export type LoadedDelivery = Omit<DeliveryRow, 'body'> & { body: SharedText };

export const deliveryClaimTable = table('delivery_claims', {
  id: number,
  hook_id: text,
  sender_id: text,
  body_digest: bytes,
  execution_id: text,
  delivery_id: text,
  claimed_at: text,
});
export type DeliveryClaimRow = Row<typeof deliveryClaimTable>;

/** Executions of a user per minute. A trigger on the hook counters updates it. */
export const executionMinuteTable = table('execution_minutes', {
  user_id: text,
  minute: text,
  count: number,
});
