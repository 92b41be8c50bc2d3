import type { Client, PipelineRun, PipelineRunDetail } from '../../src/client/index.js';

type ListedStage = PipelineRunDetail['stages'][number];

/** A stage as the list of runs shows it. */
export type StageBrief = Pick<ListedStage, 'key' | 'kind' | 'status' | 'reason'>;

/** A run of a pipeline in the list; of what is under way the stages are known too. */
export interface RunItem extends PipelineRun {
  stages: readonly StageBrief[] | null;
}

/** A stage, and the run that it belongs to; its id is its key. */
export interface StageItem extends ListedStage {
  id: string;
  run: PipelineRun;
}

/** Most runs of a page whose stages are read with it: a run may be large. */
const MAX_READ = 8;

/** True if a run will not go on by itself. */
export const isRunOver = ({ status }: Pick<PipelineRun, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'stopped';

/** Reads a page of runs, or of those that a run has begun, with the stages of what is under way. */
export const readRuns = async (
  client: Client,
  parentId: string | null,
  query: { limit: number; cursor?: string | undefined },
): Promise<{ rows: RunItem[]; nextCursor: string | null }> => {
  const of = { ...query, ...(parentId !== null && { parentId }) };
  const { pipelines, nextCursor } = await client.pipelines.list({ query: of });
  const open = pipelines.filter((run) => !isRunOver(run)).slice(0, MAX_READ);
  const read = await Promise.all(open.map(({ id }) => client.pipelines.get({ id })));
  const stages = new Map(read.map((run) => [run.id, run.stages.map(briefOf)]));
  const rows = pipelines.map((run) => ({ ...run, stages: stages.get(run.id) ?? null }));
  return { rows, nextCursor };
};

const briefOf = ({ key, kind, status, reason }: ListedStage): StageBrief => ({
  key,
  kind,
  status,
  reason,
});

/** Reads the stages of a run, in the order of its template. */
export const readStages = async (client: Client, id: string | null): Promise<StageItem[]> => {
  if (id === null) return [];
  const { stages, ...run } = await client.pipelines.get({ id });
  return stages.map((stage) => ({ ...stage, id: stage.key, run }));
};
