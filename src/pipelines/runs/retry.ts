import { throwIfFaults } from '../../kernel/route.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { stageWithDependents } from './next.js';
import { type LoadedRun, RESTARTED_STAGE, stageIn } from './run.js';

export interface CarriedOverRuns {
  of: PipelineStageRow;
  to: number;
}

interface RetryChanges {
  stages: Map<string, Partial<PipelineStageRow>>;
  /** Stages whose runs are continued instead of started again. */
  carried: CarriedOverRuns[];
}

export const stagesToRetry = (run: LoadedRun, fromStage?: string): string[] => {
  const { stages } = run.template;
  if (fromStage !== undefined) {
    if (!run.stages.has(fromStage)) {
      throwIfFaults([{ path: 'fromStage', message: `refers to an unknown stage: ${fromStage}` }]);
    }
    return stageWithDependents(stages, fromStage);
  }
  const unfinished = [...run.stages.values()].filter(
    ({ status, blocked }) => status === 'failed' || status === 'stopped' || blocked === 1,
  );
  return [...new Set(unfinished.flatMap(({ key }) => stageWithDependents(stages, key)))];
};

export const retryChanges = (run: LoadedRun, keys: readonly string[]): RetryChanges => {
  const stages = new Map(keys.map((key) => [key, freshStage(run, key)]));
  const carried = [...stages].flatMap(([key, { visits }]): CarriedOverRuns[] => {
    const of = stageIn(run, key);
    const isUnfinished = of?.row.status === 'failed' || of?.row.status === 'stopped';
    const hasRuns = of?.stage.kind === 'foreach' || of?.stage.kind === 'pipeline';
    return of && isUnfinished && hasRuns && visits !== undefined
      ? [{ of: of.row, to: visits }]
      : [];
  });
  return { stages, carried };
};

const freshStage = (run: LoadedRun, key: string): Partial<PipelineStageRow> => {
  const { visits = 0, effect = 'none' } = run.stages.get(key) ?? {};
  // An interrupted call may have taken effect, so the owner is asked before it is repeated.
  return { ...RESTARTED_STAGE, effect, visits: visits + 1, visits_before: visits };
};
