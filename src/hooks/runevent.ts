import type { ExecutionEnd } from '../agents/move.js';
import { excerpt } from '../kernel/excerpt.js';
import { LONGEST_IN_EVENT, type OutgoingEvent } from '../outbound/eventfanout.js';
import { type HookRun, runEvent } from './run.js';

/** The data of an execution that its event contains. */
export interface EndedRun {
  executionId: string;
  hookId: string;
  hookName: string;
  trigger: string;
  action: string;
  /** The event's name as the sender gave it, or the trigger's event. */
  event: string | null;
  agentId: string | null;
}

/**
 * Returns the event for the end of an execution. Ours: an execution that the hook's own rules
 * stopped did not run, and gives null.
 */
export const hookRan = (run: EndedRun, end: ExecutionEnd): OutgoingEvent | null => {
  const { status, result, error } = end;
  if (status === 'skipped') return null;
  const { hookId, executionId, agentId } = run;
  return {
    type: status === 'success' ? 'hook.executed' : 'hook.failed',
    data: {
      ...run,
      status,
      ...(result !== undefined && { result: excerpt(textOf(result), LONGEST_IN_EVENT) }),
      ...(error !== undefined && { error: excerpt(error, LONGEST_IN_EVENT) }),
      links: {
        hook: `/api/hooks/${hookId}`,
        execution: `/api/hooks/${hookId}/executions/${executionId}`,
        ...(agentId !== null && { agent: `/api/agents/${agentId}` }),
      },
    },
    effectId: executionId,
  };
};

export const endedRun = (run: HookRun): EndedRun => ({
  executionId: run.execution.id,
  hookId: run.hook.id,
  hookName: run.hook.name,
  trigger: run.execution.trigger,
  action: run.hook.action,
  event: runEvent(run),
  agentId: run.execution.agent_id,
});

const textOf = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
