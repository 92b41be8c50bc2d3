import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

/** The templates of pipelines that users made. What is JSON has the form of the contract. */
export const pipelineTemplateTable = table('pipeline_templates', {
  id: text,
  user_id: text,
  name: text,
  description: orNull(text),
  parameters: json(),
  stages: json(),
  limits: json(),
  on_finish: json(),
  /** The number of the change that made it as it is, from 1. */
  version: number,
  created_at: text,
  updated_at: text,
});
export type PipelineTemplateRow = Row<typeof pipelineTemplateTable>;

/** The runs of pipelines. */
export const pipelineRunTable = table('pipeline_runs', {
  id: text,
  user_id: text,
  template_id: text,
  template_version: number,
  name: text,
  /** The part of the template that the run needs, as JSON. */
  template: json(),
  params: json<Record<string, unknown>>(),
  status: literal<'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'stopped'>(),
  untrusted: flag,
  /** The run whose stage has begun this one, and the visit and attempt of that stage. */
  parent_id: orNull(text),
  parent_key: orNull(text),
  parent_visits: orNull(number),
  parent_attempt: orNull(number),
  /** The place of an item of a stage `foreach`, from 0, and the item. */
  item_at: orNull(number),
  item: orNull(json()),
  /** The run that everything began with; null for that run itself. */
  root_id: orNull(text),
  /** The number of pipelines that contain each other down to this one, from 1. */
  depth: preset(number),
  /** The number of times that the cause of the run came back to this daemon. */
  hops: preset(number),
  /** Counts the changes of the run. */
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

/** The stages of runs. */
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
  /** 1: all that it has begun waits for a person or for its time. */
  rests: preset(flag),
  untrusted: preset(flag),
  due: orNull(literal<'wait' | 'retry' | 'timeout' | 'expiry'>()),
  due_at: orNull(text),
  started_at: orNull(text),
  finished_at: orNull(text),
});
export type PipelineStageRow = Row<typeof pipelineStageTable>;
