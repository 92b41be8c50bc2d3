import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { PipelineRunRow, PipelineStageRow } from '../../store/tables/pipelines.js';
import type { TemplateStage } from '../templates/contract.js';
import {
  ITEM_KEY,
  type LoadedRun,
  RESTARTED_STAGE,
  type RunStage,
  type RunTemplate,
} from './run.js';

export interface NewRunRows {
  row: PipelineRunRow;
  stages: PipelineStageRow[];
}

type StartedTemplate = RunTemplate & { id: string; version: number; name: string };

interface RunStart {
  userId: string;
  /** Of an organization: the member who starts the run. */
  memberId?: string | undefined;
  template: StartedTemplate;
  /** Checked values. */
  values: Record<string, unknown>;
  name?: string | undefined;
  untrusted: boolean;
  hops?: number;
  /** Execution of the hook that starts the run. */
  executionId?: string;
  now: number;
}

export const newRunRows = ({ userId, template, values, ...of }: RunStart): NewRunRows => {
  const { parameters, stages, limits, onFinish } = template;
  const row = {
    ...emptyRow(of.now),
    user_id: userId,
    member_id: of.memberId ?? null,
    template_id: template.id,
    template_version: template.version,
    name: of.name?.trim() ?? template.name,
    template: JSON.stringify({ parameters, stages, limits, onFinish }),
    params: JSON.stringify(values),
    untrusted: of.untrusted ? 1 : 0,
    hops: of.hops ?? 0,
    execution_id: of.executionId ?? null,
  };
  return { row, stages: stageRows(row.id, stages) };
};

/** A nested run sends no notification about its end. */
export const nestedRunRows = (
  of: RunStage,
  { template, values, now }: Pick<RunStart, 'template' | 'values' | 'now'>,
): NewRunRows => {
  const { id, version, parameters, stages, limits } = template;
  const row = {
    ...emptyRow(now),
    ...inherited(of),
    template_id: id,
    template_version: version,
    name: nameBelow(of.run, template.name),
    template: JSON.stringify({ parameters, stages, limits, onFinish: { notifyOwner: false } }),
    params: JSON.stringify(values),
    depth: of.run.row.depth + 1,
  };
  return { row, stages: stageRows(row.id, stages) };
};

export const itemRunRows = (
  of: RunStage,
  { at, item, now }: { at: number; item: unknown; now: number },
): NewRunRows => {
  const { template_id, template_version, depth } = of.run.row;
  const row = {
    ...emptyRow(now),
    ...inherited(of),
    template_id,
    template_version,
    depth,
    name: nameBelow(of.run, `${of.row.key}[${at}]`),
    template: '{}',
    params: '{}',
    item_at: at,
    item: JSON.stringify(item),
  };
  return { row, stages: stageRows(row.id, [{ key: ITEM_KEY }]) };
};

const MAX_NAME_LENGTH = 200;

const nameBelow = ({ row }: LoadedRun, name: string): string =>
  `${row.name.slice(0, MAX_NAME_LENGTH / 2)} / ${name}`.slice(0, MAX_NAME_LENGTH);

const inherited = ({ run, row }: RunStage) => ({
  user_id: run.row.user_id,
  member_id: run.row.member_id,
  untrusted: row.untrusted,
  hops: run.row.hops,
  parent_id: run.row.id,
  parent_key: row.key,
  parent_visits: row.visits,
  parent_attempt: row.attempt,
  root_id: run.row.root_id ?? run.row.id,
});

const emptyRow = (now: number) => ({
  id: mint('pipeline', now),
  status: 'queued' as const,
  parent_id: null,
  parent_key: null,
  parent_visits: null,
  parent_attempt: null,
  item_at: null,
  item: null,
  root_id: null,
  depth: 1,
  hops: 0,
  execution_id: null,
  step: 0,
  tokens: 0,
  cost_usd: 0,
  error: null,
  deadline_at: null,
  left_ms: null,
  created_at: iso(now),
  started_at: null,
  finished_at: null,
});

const stageRows = (run_id: string, stages: Pick<TemplateStage, 'key'>[]): PipelineStageRow[] =>
  stages.map(({ key }, position) => ({
    ...RESTARTED_STAGE,
    run_id,
    key,
    position,
    visits: 1,
    visits_before: 0,
  }));
