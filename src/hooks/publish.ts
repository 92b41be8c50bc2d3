import type { Log } from '../kernel/log.js';
import type { Hub } from '../realtime/hub.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';

/**
 * Publishes the end of an execution to live subscribers when the agent that its hook spawned ends.
 */
export const tellExecution =
  ({ store, log }: { store: Store; log: Log }, hub: Hub) =>
  (agent: AgentRow): void => {
    if (agent.execution_id === null) return;
    store.db
      .selectFrom('executions as e')
      .innerJoin('hooks as h', 'h.id', 'e.hook_id')
      .leftJoin('deliveries as d', 'd.id', 'e.delivery_id')
      .select(['e.id', 'e.hook_id', 'h.name', 'e.status', 'e.action', 'e.error', 'd.event'])
      .select('e.finished_at')
      .where('e.id', '=', agent.execution_id)
      .executeTakeFirst()
      .then((row) => {
        if (!row) return;
        hub.publish(agent.user_id, 'hook.execution', {
          id: row.id,
          hookId: row.hook_id,
          hookName: row.name,
          event: row.event,
          action: row.action,
          agentId: agent.id,
          status: row.status,
          error: row.error,
          at: row.finished_at,
        });
      })
      .catch((err) => log.warn({ err, execution: agent.execution_id }, 'an end was not told'));
  };
