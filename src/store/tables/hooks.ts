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
  /** A vault entry that replaces a secret of its own. */
  credential_id: orNull(text),
  enabled: flag,
  conditions: json(),
  concurrency: orNull(number),
  cooldown_ms: number,
  max_executions: orNull(number),
  limits: orNull(json()),
  executions: preset(number),
  /** The number of executions that were not skipped, which maxExecutions limits. */
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
  /** The payload's text, exactly as received and verified. */
  body: text,
  /** The parameters of the query; null without any. */
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
  /** The trigger's data for an execution without a delivery. */
  context: orNull(json()),
  status: literal<ExecutionStatus>(),
  /** The progress of the effect outside the database. */
  effect: preset(literal<'none' | 'begun' | 'done'>()),
  result: orNull(json()),
  error: orNull(text),
  attempts: preset(number),
  agent_id: orNull(text),
  replay_of: orNull(text),
  /** The number of times that its cause has come back to this daemon. */
  hops: preset(number),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
  /** The time at which it may run; null where it is not in the queue. */
  run_at: preset(orNull(text)),
  /** The id of the start of the daemon that has claimed it. */
  boot: preset(orNull(text)),
});
export type ExecutionRow = Row<typeof executionTable>;

/** A hook as the queue reads it with an execution. */
export interface ClaimedHook extends HookRow {
  /** Since when the account of its owner is disabled. */
  suspended_at: string | null;
}

/** An execution that the queue has claimed, with all that its action needs. */
export interface ClaimedExecution {
  /** The row after the claim. */
  execution: ExecutionRow;
  /** The same object for all executions of the hook in one claim. */
  hook: ClaimedHook;
  delivery: LoadedDelivery | null;
}

/** A delivery as it is given to another thread. */
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

/** The number of a user's executions that began in one minute; a trigger on the counts of hooks keeps it. */
export const executionMinuteTable = table('execution_minutes', {
  user_id: text,
  /** The minute in UTC, such as `2026-01-31T09:30`. */
  minute: text,
  count: number,
});
