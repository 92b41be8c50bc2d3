import Boom from '@hapi/boom';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { PipelineStageRow } from '../../store/tables/pipelines.js';
import type { Budget } from './budget.js';
import { reservationFor } from './calls.js';
import type { Effects } from './effects.js';
import { computeStageTimeout } from './engine.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { type RunStage, stageIn } from './run.js';

interface ApprovedCallDeps {
  record: RecordRunDeps;
  effects: Pick<Effects, 'begin'>;
  budget: Budget;
}

/**
 * Starts an approved call. `steps` are written in the same transaction. Resolves to false if the
 * run has changed since it was read. Throws StageError if the budget is used up, and 409 if other
 * stages have reserved the rest.
 */
export type StartApprovedCall = (of: RunStage, steps: TransactionStep[]) => Promise<boolean>;

const ANSWERED = { digest: null, due: null, due_at: null };

export const createApprovedCalls =
  ({ record, effects, budget }: ApprovedCallDeps): StartApprovedCall =>
  (of, steps) => {
    const { run, row } = of;
    const begin = async (): Promise<boolean> => {
      const reserved = await reservationFor(budget, of);
      if (!reserved) throw Boom.conflict(RESERVED, { code: 'budget_reserved' });
      // The approved call may only use the address that was shown.
      const input = JSON.stringify({ ...JSON.parse(row.input ?? '{}'), isApproved: true });
      const change: Partial<PipelineStageRow> = {
        status: 'running',
        effect: 'begun',
        reason: null,
        input,
        ...ANSWERED,
        ...reserved,
        ...computeStageTimeout(of, record.now()),
      };
      const stages = new Map([[row.key, change]]);
      if (!(await recordRun(record, run, { stages, steps }))) return false;
      const startedStage = stageIn(run, row.key);
      if (startedStage) effects.begin(startedStage);
      return true;
    };
    return of.stage.kind === 'research' ? budget.inTurn(run, begin) : begin();
  };

const RESERVED =
  'Other stages have reserved the remaining budget of the run. Approve the stage when they have ended';
