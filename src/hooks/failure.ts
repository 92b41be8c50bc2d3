import type { Notice } from '../outbound/outbox.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';

/** A run that ended in an error, to its owner, who may have asked nothing of the hook but its work. */
export const runFailureNotice = (
  run: { executionId: string; hookId: string; hookName: string },
  error: string,
): Notice => ({
  kind: 'hook_failed',
  title: `${run.hookName}: ${error.trim().split('\n', 1)[0] || 'failed'}`,
  body: error,
  link: `/api/hooks/${run.hookId}/executions/${run.executionId}`,
  about: run.hookName,
});

/**
 * The same of the run that spawned an agent; null where there is none, or it ended before. Ours: of
 * an agent with `notifyOwner` its own message tells.
 */
export const executionFailure =
  ({ db }: Store) =>
  async (agent: AgentRow, error: string): Promise<Notice | null> => {
    if (agent.execution_id === null || agent.notify_owner === 1) return null;
    const run = await db
      .selectFrom('executions as e')
      .innerJoin('hooks as h', 'h.id', 'e.hook_id')
      .select(['e.id as executionId', 'h.id as hookId', 'h.name as hookName'])
      .where('e.id', '=', agent.execution_id)
      .where('e.status', 'in', ['queued', 'running'])
      .executeTakeFirst();
    return run ? runFailureNotice(run, error) : null;
  };
