import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export const researchJobTable = table('research_jobs', {
  id: text,
  user_id: text,
  question: text,
  depth: literal<'quick' | 'standard' | 'deep'>(),
  source_kinds: json<('web' | 'knowledge')[]>(),
  urls: json<string[]>(),
  /** Model for planning and writing. Null means the model of the topic. */
  model: orNull(text),
  limits: json<{ maxSeconds: number; maxCostUsd: number | null; maxSources: number }>(),
  status: literal<
    | 'queued'
    | 'planning'
    | 'searching'
    | 'reading'
    | 'writing'
    | 'completed'
    | 'failed'
    | 'cancelled'
  >(),
  plan: json<{ query: string; why: string }[]>(),
  usage: json<{
    modelCalls: number;
    inputTokens: number;
    outputTokens: number;
    costUsd: number;
    searches: number;
    pages: number;
  }>(),
  notes: json<{ sentence: string; isFailure: boolean }[]>(),
  progress: orNull(
    json<{ done: number; total: number | null; unit: string; note: string | null }>(),
  ),
  effect_id: orNull(text),
  operation_id: text,
  knowledge_id: orNull(text),
  error: orNull(text),
  created_at: text,
  finished_at: orNull(text),
});
export type ResearchJobRow = Row<typeof researchJobTable>;

export const researchSourceTable = table('research_sources', {
  job_id: text,
  n: number,
  user_id: text,
  url: orNull(text),
  entry_id: orNull(text),
  title: text,
  status: literal<'found' | 'read' | 'failed'>(),
  used: preset(flag),
  text: orNull(text),
  sha256: orNull(text),
  error: orNull(text),
  retrieved_at: orNull(text),
});
export type ResearchSourceRow = Row<typeof researchSourceTable>;

/** Separate from the jobs, because of their size. */
export const researchReportTable = table('research_reports', {
  job_id: text,
  draft: json(),
  report: orNull(json()),
});
export type ResearchReportRow = Row<typeof researchReportTable>;
