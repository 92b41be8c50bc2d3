import type { FieldFault } from '../kernel/problem.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { beginStatement, type OutcomeDeps, prepareRunEnd, type RunOutcome } from './outcome.js';
import { countRunHops, type HookRun } from './run.js';

export interface HookPipelines {
  /** `fault`: the reason why the pipeline cannot start. */
  prepare(of: {
    userId: string;
    templateId: string;
    params: Record<string, unknown>;
    untrusted: boolean;
    hops: number;
    executionId: string;
    /** Converts a text to a number or boolean if the parameter is one. */
    isRendered: true;
  }): Promise<{ id: string; steps: TransactionStep[]; begun(): void } | { fault: string }>;
  check(
    userId: string,
    of: {
      templateId?: string | undefined;
      params?: Record<string, unknown> | undefined;
      isRendered: true;
    },
  ): Promise<{ faults: FieldFault[] }>;
}

/**
 * One transaction starts the pipeline and ends the execution, so that a retry cannot start it
 * twice. Input from a payload is untrusted.
 */
export const startPipeline = async (
  deps: OutcomeDeps,
  run: HookRun,
  { pipelines, params }: { pipelines: HookPipelines; params: Record<string, unknown> },
): Promise<null> => {
  const { hook, delivery } = run;
  const started = await pipelines.prepare({
    userId: hook.userId,
    templateId: hook.actionConfig.templateId ?? '',
    params,
    untrusted: delivery !== null || hook.trigger !== 'schedule',
    hops: countRunHops(run),
    executionId: run.execution.id,
    isRendered: true,
  });
  const outcome: RunOutcome =
    'fault' in started
      ? { status: 'error', error: started.fault }
      : { status: 'success', effect: 'done', result: { pipelineId: started.id } };
  const { end, published } = prepareRunEnd(deps, run, outcome);
  const steps = 'fault' in started ? [] : started.steps;
  const closed = { procedure: 'closeExecution' as const, input: end };
  if (!(await deps.store.tryTransact([beginStatement(run, {}), ...steps, closed]))) return null;
  published();
  if (!('fault' in started)) started.begun();
  return null;
};
