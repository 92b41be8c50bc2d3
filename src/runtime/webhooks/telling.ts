import type { Store } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { firedBy } from '../hooks/run.js';
import type { ToWebhooks } from '../outbox/events.js';
import type { Posting } from '../outbox/outbox.js';
import { hookRan, type RunEnd } from './events.js';
import type { Subscriptions } from './subscriptions.js';

/** How nothing is told. */
export const NOTHING: Posting = { statements: [], published: () => undefined };

/** What nobody wants costs neither a statement nor a job. */
export const onlyWanted =
  (subscriptions: Subscriptions, toWebhooks: ToWebhooks): ToWebhooks =>
  (userId, event) =>
    subscriptions.wants(userId, event.type) ? toWebhooks(userId, event) : NOTHING;

/** What tells of the end of the execution that spawned an agent, in the transaction that ends both. */
export type ExecutionEvent = (agent: AgentRow, end: RunEnd) => Promise<Posting>;

/** An execution that ended before, at the end of an earlier turn of its agent, is not told again. */
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
