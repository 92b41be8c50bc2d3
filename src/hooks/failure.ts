import type { Notice } from '../outbound/outbox.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';

/**
 * Returns the notification of a failed execution, because the owner may otherwise not see that the
 * hook fails.
 */
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
 * Returns the same notification for the execution that spawned an agent; null if there is none or
 * it ended before. Ours: an agent with `notifyOwner` sends its own notification instead.
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
