import type { ExecutionEnd } from '../agents/module.js';
import { excerpt } from '../kernel/excerpt.js';
import { pageLink } from '../kernel/pagepath.js';
import { MAX_IN_EVENT_LENGTH, type Notice, type OutgoingEvent } from '../outbound/module.js';
import { type HookRun, runEvent } from './run.js';

export const endedRun = (run: HookRun) => ({
  executionId: run.execution.id,
  hookId: run.hook.id,
  hookName: run.hook.name,
  trigger: run.execution.trigger,
  action: run.hook.action,
  event: runEvent(run),
  agentId: run.execution.agent_id,
});

type EndedRun = ReturnType<typeof endedRun>;

/** Null if the rules of the hook stopped the execution, because it did not run. */
export const hookExecutedEvent = (run: EndedRun, end: ExecutionEnd): OutgoingEvent | null => {
  const { status, result, error } = end;
  if (status === 'skipped') return null;
  const { hookId, executionId, agentId } = run;
  return {
    type: status === 'success' ? 'hook.executed' : 'hook.failed',
    data: {
      ...run,
      status,
      ...(result !== undefined && {
        result: excerpt(stringifyResult(result), MAX_IN_EVENT_LENGTH),
      }),
      ...(error !== undefined && { error: excerpt(error, MAX_IN_EVENT_LENGTH) }),
      links: {
        hook: `/api/hooks/${hookId}`,
        execution: `/api/hooks/${hookId}/executions/${executionId}`,
        ...(agentId !== null && { agent: `/api/agents/${agentId}` }),
      },
    },
    effectId: executionId,
  };
};

const stringifyResult = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? '');

/** Otherwise the owner may not notice that the hook fails. */
export const runFailureNotice = (run: EndedRun, error: string): Notice => ({
  kind: 'hook_failed',
  title: `${run.hookName} failed`,
  body: error,
  link: pageLink('execution', run.executionId),
  about: run.hookName,
});
