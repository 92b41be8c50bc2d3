import type { Executions } from '../agents/module.js';
import type { Log } from '../kernel/log.js';
import { EMPTY_POSTING, type Outbound } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { firedBy, isOpen } from './run.js';
import { hookExecutedEvent, runFailureNotice } from './runevent.js';

interface AgentExecutionDeps {
  store: Store;
  log: Log;
  hub: Hub;
  outbound: Outbound;
}

/**
 * No second event or notification is sent if the execution ended earlier, with a previous turn of
 * its agent.
 */
export const agentExecutions = ({
  store,
  log,
  hub,
  outbound: { subscriptions, toWebhooks },
}: AgentExecutionDeps): Pick<Executions, 'event' | 'failure' | 'ended'> => ({
  event: async (agent, end) => {
    const { user_id: userId, hops } = agent;
    const types = ['hook.executed', 'hook.failed'];
    if (!types.some((type) => subscriptions.wants(userId, type))) return EMPTY_POSTING;
    const found = await findExecution(store, agent);
    const event = found && isOpen(found.row) ? hookExecutedEvent(found.run, end) : null;
    return event ? toWebhooks(userId, { ...event, hops }) : EMPTY_POSTING;
  },
  // An agent with `notifyOwner` sends its own notification instead.
  failure: async (agent, error) => {
    const found = agent.notify_owner === 1 ? null : await findExecution(store, agent);
    return found && isOpen(found.row) ? runFailureNotice(found.run, error) : null;
  },
  ended: (agent) => {
    findExecution(store, agent)
      .then((found) => {
        if (!found) return;
        const { id, status, error, event, finished_at: at } = found.row;
        const { hookId, hookName, action, agentId } = found.run;
        const change = { id, hookId, hookName, event, action, agentId, status, error, at };
        hub.publish(agent.user_id, 'hook.execution', change);
      })
      .catch((err) =>
        log.warn(
          { err, execution: agent.execution_id },
          'failed to publish the end of an execution',
        ),
      );
  },
});

const findExecution = async (store: Store, { id: agentId, execution_id }: AgentRow) => {
  if (execution_id === null) return null;
  const row = await store.look('namedExecution', execution_id);
  if (!row) return null;
  const { id: executionId, hook_id: hookId, name: hookName, trigger, action } = row;
  const event = row.event ?? firedBy(row).event ?? null;
  return { row, run: { executionId, hookId, hookName, trigger, action, event, agentId } };
};
