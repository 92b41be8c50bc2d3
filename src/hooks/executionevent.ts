import type { ExecutionEvent } from '../agents/move.js';
import type { ToWebhooks } from '../outbound/eventfanout.js';
import { NOTHING } from '../outbound/webhooks/filter.js';
import type { Subscriptions } from '../outbound/webhooks/subscriptions.js';
import type { Store } from '../store/store.js';
import { firedBy } from './run.js';
import { hookRan } from './runevent.js';

/**
 * Creates the function that posts the webhook event of an agent's execution. No second event is
 * sent for an execution that ended before, at the end of an earlier turn of its agent.
 */
export const createExecutionEvent =
  (deps: { store: Store; subscriptions: Subscriptions; toWebhooks: ToWebhooks }): ExecutionEvent =>
  async (agent, end) => {
    const { execution_id: id, user_id: userId } = agent;
    const { subscriptions, toWebhooks } = deps;
    const types = ['hook.executed', 'hook.failed'];
    if (id === null || !types.some((type) => subscriptions.wants(userId, type))) return NOTHING;
    const run = await findRun(deps.store, id);
    const event = run && hookRan({ ...run, agentId: agent.id }, end);
    return event ? toWebhooks(userId, { ...event, hops: agent.hops }) : NOTHING;
  };

const findRun = async ({ db }: Store, executionId: string) => {
  const row = await db
    .selectFrom('executions as e')
    .innerJoin('hooks as h', 'h.id', 'e.hook_id')
    .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
    .select(['e.hook_id', 'h.name', 'e.trigger', 'e.action', 'e.context', 'd.event'])
    .where('e.id', '=', executionId)
    .where('e.status', 'in', ['queued', 'running'])
    .executeTakeFirst();
  if (!row) return null;
  return {
    executionId,
    hookId: row.hook_id,
    hookName: row.name,
    trigger: row.trigger,
    action: row.action,
    event: row.event ?? firedBy(row).event ?? null,
  };
};
