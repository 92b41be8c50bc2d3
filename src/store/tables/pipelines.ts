import { json, number, orNull, type Row, table, text } from './table.js';

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
