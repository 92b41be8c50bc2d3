import type { TransactionStep } from '../../store/engine/protocol.js';
import type { ChildRunsStore, ChildrenOf } from './childqueries.js';
import type { RunsStore } from './queries.js';
import { retryChanges, stagesToRetry } from './retry.js';

export interface ReopenDeps {
  runs: Pick<RunsStore, 'byId' | 'changeStep' | 'stageChange'>;
  children: Pick<ChildRunsStore, 'carryOver'>;
}

/**
 * Continues a failed or stopped run in a later attempt of its stage. Completed stages are not
 * repeated. Resolves to null if the run does not exist.
 */
export const reopenSteps = async (
  { runs, children }: ReopenDeps,
  id: string,
  { visits, attempt }: ChildrenOf,
): Promise<TransactionStep[] | null> => {
  const run = await runs.byId(id);
  if (!run) return null;
  const { stages, carried } = retryChanges(run, stagesToRetry(run));
  const reopened = {
    status: 'queued',
    parent_visits: visits,
    parent_attempt: attempt,
    error: null,
    finished_at: null,
    deadline_at: null,
    left_ms: null,
  } as const;
  return [
    runs.changeStep(run, reopened),
    ...[...stages].map(([key, change]) => runs.stageChange({ run_id: id, key }, change)),
    ...carried.flatMap(children.carryOver),
  ];
};
