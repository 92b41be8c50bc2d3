import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

/** JSON columns have the form of the contract. */
export const pipelineTemplateTable = table('pipeline_templates', {
  id: text,
  user_id: text,
  name: text,
  description: orNull(text),
  parameters: json(),
  stages: json(),
  limits: json(),
  on_finish: json(),
  version: number,
  created_at: text,
  updated_at: text,
});
export type PipelineTemplateRow = Row<typeof pipelineTemplateTable>;

export const pipelineRunTable = table('pipeline_runs', {
  id: text,
  user_id: text,
  /** Of an organization: the member who started the run. */
  member_id: orNull(text),
  template_id: text,
  template_version: number,
  name: text,
  template: json(),
  params: json<Record<string, unknown>>(),
  status: literal<'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'stopped'>(),
  untrusted: flag,
  /** Parent run, with visit and attempt of the stage. */
  parent_id: orNull(text),
  parent_key: orNull(text),
  parent_visits: orNull(number),
  parent_attempt: orNull(number),
  /** Index of the `foreach` item from 0, and the item. */
  item_at: orNull(number),
  item: orNull(json()),
  root_id: orNull(text),
  depth: preset(number),
  /** How often its cause has passed through this daemon. */
  hops: preset(number),
  /** Execution of the hook that started it. */
  execution_id: preset(orNull(text)),
  step: number,
  tokens: preset(number),
  cost_usd: preset(number),
  error: orNull(text),
  deadline_at: orNull(text),
  left_ms: orNull(number),
  created_at: text,
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type PipelineRunRow = Row<typeof pipelineRunTable>;

export const pipelineStageTable = table('pipeline_stages', {
  run_id: text,
  key: text,
  position: number,
  status: literal<
    | 'pending'
    | 'running'
    | 'waiting_approval'
    | 'waiting_input'
    | 'completed'
    | 'failed'
    | 'skipped'
    | 'stopped'
  >(),
  reason: orNull(text),
  attempt: preset(number),
  visits: preset(number),
  visits_before: preset(number),
  blocked: preset(flag),
  agent_id: orNull(text),
  operation_id: orNull(text),
  reserved_tokens: preset(number),
  reserved_usd: preset(number),
  digest: orNull(text),
  input: orNull(json()),
  output: orNull(json()),
  error: orNull(text),
  effect: preset(literal<'none' | 'begun'>()),
  /** 1 if everything it started waits for a person or a time. */
  rests: preset(flag),
  untrusted: preset(flag),
  due: orNull(literal<'wait' | 'retry' | 'timeout' | 'expiry'>()),
  due_at: orNull(text),
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type PipelineStageRow = Row<typeof pipelineStageTable>;
