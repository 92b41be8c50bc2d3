import { refuseFaults } from '../../kernel/route.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import { withBelow } from './next.js';
import { FRESH, type LoadedRun, stageIn } from './run.js';

/** A stage whose runs count for a later visit of it. */
export interface CarriedRuns {
  of: PipelineStageRow;
  to: number;
}

/** The changes with which stages begin anew. */
interface RetryChanges {
  stages: Map<string, Partial<PipelineStageRow>>;
  /** The stages whose runs go on rather than begin again, unless these are to be done again. */
  carried: CarriedRuns[];
}

/** Returns the stages that begin anew: from one on, or all that failed and what they kept from running. */
export const retriedStages = (run: LoadedRun, fromStage?: string): string[] => {
  const { stages } = run.template;
  if (fromStage !== undefined) {
    if (!run.stages.has(fromStage)) {
      refuseFaults([{ path: 'fromStage', message: `refers to an unknown stage: ${fromStage}` }]);
    }
    return withBelow(stages, fromStage);
  }
  const unfinished = [...run.stages.values()].filter(
    ({ status, blocked }) => status === 'failed' || status === 'stopped' || blocked === 1,
  );
  return [...new Set(unfinished.flatMap(({ key }) => withBelow(stages, key)))];
};

/** Returns the changes with which these stages of a run begin anew. */
export const retryChanges = (run: LoadedRun, keys: readonly string[]): RetryChanges => {
  const stages = new Map(keys.map((key) => [key, comingAgain(run, key)]));
  const carried = [...stages].flatMap(([key, { visits }]): CarriedRuns[] => {
    const of = stageIn(run, key);
    const isUnfinished = of?.row.status === 'failed' || of?.row.status === 'stopped';
    const hasRuns = of?.stage.kind === 'foreach' || of?.stage.kind === 'pipeline';
    return of && isUnfinished && hasRuns && visits !== undefined
      ? [{ of: of.row, to: visits }]
      : [];
  });
  return { stages, carried };
};

const comingAgain = (run: LoadedRun, key: string): Partial<PipelineStageRow> => {
  const { visits = 0, effect = 'none' } = run.stages.get(key) ?? {};
  // A call that was cut off may have been done, which is asked before it is made again.
  return { ...FRESH, effect, visits: visits + 1, visits_before: visits };
};
