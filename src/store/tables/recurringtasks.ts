import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type RecurringRunStatus = 'queued' | 'running' | 'success' | 'error' | 'skipped';

export const recurringTaskTable = table('recurring_tasks', {
  id: text,
  user_id: text,
  title: text,
  schedule: json<{ cron?: string; rrule?: string; timezone: string }>(),
  starts_at: text,
  action: literal<'create_task' | 'spawn_agent' | 'start_pipeline' | 'run_hook' | 'notify'>(),
  action_config: json(),
  enabled: flag,
  missed: literal<'skip' | 'once' | 'all'>(),
  overlap: literal<'skip' | 'queue'>(),
  next_run_at: orNull(text),
  last_due_at: orNull(text),
  last_run_at: orNull(text),
  last_status: orNull(literal<RecurringRunStatus>()),
  last_error: orNull(text),
  /** Runs at due times. Limited by `max_runs`. */
  run_count: preset(number),
  /** 1 if the last run failed and the owner was notified. */
  failing: preset(flag),
  ends_at: orNull(text),
  max_runs: orNull(number),
  created_at: text,
  updated_at: text,
});
export type RecurringTaskRow = Row<typeof recurringTaskTable>;

export const recurringRunTable = table('recurring_runs', {
  id: text,
  recurring_task_id: text,
  user_id: text,
  /** Null if started manually. */
  due_at: orNull(text),
  status: literal<RecurringRunStatus>(),
  reason: orNull(text),
  error: orNull(text),
  agent_id: orNull(text),
  task_id: orNull(text),
  execution_id: orNull(text),
  notification_id: orNull(text),
  pipeline_id: orNull(text),
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type RecurringRunRow = Row<typeof recurringRunTable>;
