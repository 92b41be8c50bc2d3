import type { Client, PipelineRun, PipelineRunDetail } from '../../src/client/index.js';

type ListedStage = PipelineRunDetail['stages'][number];

export type StageBrief = Pick<ListedStage, 'key' | 'kind' | 'status' | 'reason'>;

/** Run in the list. Stages are known only for active runs. */
export interface RunItem extends PipelineRun {
  stages: readonly StageBrief[] | null;
}

/** Stage with its run. Its id is its key. */
export interface StageItem extends ListedStage {
  id: string;
  run: PipelineRun;
}

/** Maximum runs of a page whose stages are loaded with it, because a run may be large. */
const MAX_READ = 8;

/** Whether a run will not continue by itself. */
export const isRunOver = ({ status }: Pick<PipelineRun, 'status'>): boolean =>
  status === 'completed' || status === 'failed' || status === 'stopped';

/** Page of runs, or of the runs started by a run, with the stages of active ones. */
export const readRuns = async (
  client: Client,
  parentId: string | null,
  query: { limit: number; cursor?: string | undefined },
): Promise<{ rows: RunItem[]; nextCursor: string | null }> => {
  const of = { ...query, ...(parentId !== null && { parentId }) };
  const { pipelines, nextCursor } = await client.pipelines.list({ query: of });
  const open = pipelines.filter((run) => !isRunOver(run)).slice(0, MAX_READ);
  const read = await Promise.all(open.map(({ id }) => client.pipelines.get({ id })));
  const stages = new Map(read.map((run) => [run.id, run.stages.map(toStageBrief)]));
  const rows = pipelines.map((run) => ({ ...run, stages: stages.get(run.id) ?? null }));
  return { rows, nextCursor };
};

const toStageBrief = ({ key, kind, status, reason }: ListedStage): StageBrief => ({
  key,
  kind,
  status,
  reason,
});

export const readStages = async (client: Client, id: string | null): Promise<StageItem[]> => {
  if (id === null) return [];
  const { stages, ...run } = await client.pipelines.get({ id });
  return stages.map((stage) => ({ ...stage, id: stage.key, run }));
};
