import type { FieldFault } from '../kernel/problem.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { statement } from '../store/store.js';
import { endOf, type OutcomeDeps, type RunOutcome } from './outcome.js';
import { type HookRun, hopsOf } from './run.js';

/** The pipelines that hooks start. */
export interface HookPipelines {
  /** Prepares a run, which its steps write. `fault`: why it cannot start. */
  prepare(of: {
    userId: string;
    templateId: string;
    params: Record<string, unknown>;
    untrusted: boolean;
    hops: number;
    /** True: a text that stands for a number or a flag becomes one. */
    isRendered: true;
  }): Promise<{ id: string; steps: TransactionStep[]; begun(): void } | { fault: string }>;
  /** Returns what is wrong with a start, with its path; values are not known yet. */
  startFaults(
    userId: string,
    of: { templateId?: string | undefined; params?: Record<string, unknown> | undefined },
  ): Promise<FieldFault[]>;
}

/**
 * Starts the pipeline of a hook and ends the execution: one transaction has both, so that a run that is
 * begun again starts no second one. What a payload is in is untrusted.
 */
export const startPipeline = async (
  deps: OutcomeDeps,
  run: HookRun,
  { pipelines, params }: { pipelines: HookPipelines; params: Record<string, unknown> },
): Promise<null> => {
  const { hook, execution, delivery } = run;
  const started = await pipelines.prepare({
    userId: hook.userId,
    templateId: hook.actionConfig.templateId ?? '',
    params,
    untrusted: delivery !== null || hook.trigger !== 'schedule',
    hops: hopsOf(run),
    isRendered: true,
  });
  const outcome: RunOutcome =
    'fault' in started
      ? { status: 'error', error: started.fault }
      : { status: 'success', effect: 'done', result: { pipelineId: started.id } };
  const { end, published } = endOf(deps, run, outcome);
  const { db } = deps.store;
  const isOpen = statement(
    db
      .updateTable('executions')
      .set({ status: 'running' })
      .where('id', '=', execution.id)
      .where('status', 'in', ['queued', 'running']),
    1,
  );
  const steps = 'fault' in started ? [] : started.steps;
  const closed = { procedure: 'closeExecution' as const, input: end };
  if (!(await deps.store.tryTransact([isOpen, ...steps, closed]))) return null;
  published();
  if (!('fault' in started)) started.begun();
  return null;
};
