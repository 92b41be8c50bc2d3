import type { PipelineRunRow, PipelineStageRow } from '../../store/tables/pipelines.js';
import type { TemplateStage } from '../templates/contract.js';
import type { TemplateBody } from '../templates/normalize.js';
import { isStageWork } from '../templates/stagekinds.js';

export type RunTemplate = Pick<TemplateBody, 'parameters' | 'stages' | 'limits' | 'onFinish'>;

export interface LoadedRun {
  row: PipelineRunRow;
  template: RunTemplate;
  params: Record<string, unknown>;
  stages: Map<string, PipelineStageRow>;
  /** Parent run of an item in a `foreach`. `null` for other runs. */
  outer: LoadedRun | null;
}

export interface RunStage {
  run: LoadedRun;
  stage: TemplateStage;
  row: PipelineStageRow;
}

export const loadedRun = (
  row: PipelineRunRow,
  stages: PipelineStageRow[],
  outer: LoadedRun | null,
): LoadedRun => ({
  row,
  template: outer ? itemTemplate(outer, row) : JSON.parse(row.template),
  params: JSON.parse(row.params),
  stages: new Map(stages.map((stage) => [stage.key, stage])),
  outer,
});

export const ITEM_KEY = 'item';

const itemTemplate = ({ template }: LoadedRun, { parent_key }: PipelineRunRow): RunTemplate => {
  const work = template.stages.find(({ key }) => key === parent_key)?.config.stage;
  if (!isStageWork(work)) throw new Error(`The stage ${parent_key} has no work for items`);
  const { limits } = template;
  const stages = [{ key: ITEM_KEY, ...work }];
  return { parameters: [], stages, limits, onFinish: { notifyOwner: false } };
};

export const stageIn = (run: LoadedRun, key: string): RunStage | null => {
  const stage = run.template.stages.find((each) => each.key === key);
  const row = run.stages.get(key);
  return stage && row ? { run, stage, row } : null;
};

export const isOpenRun = ({ finished_at }: Pick<PipelineRunRow, 'finished_at'>): boolean =>
  finished_at === null;

export const RESTARTED_STAGE = {
  status: 'pending',
  reason: null,
  attempt: 1,
  blocked: 0,
  agent_id: null,
  operation_id: null,
  reserved_tokens: 0,
  reserved_usd: 0,
  digest: null,
  input: null,
  output: null,
  error: null,
  effect: 'none',
  rests: 0,
  untrusted: 0,
  due: null,
  due_at: null,
  started_at: null,
  finished_at: null,
} as const satisfies Partial<PipelineStageRow>;
