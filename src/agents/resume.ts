import type { WaitingAgent } from '../approvals/decide.js';
import type { Queue } from '../jobs/queue.js';
import { jobOf } from './move.js';
import { createRecord, type RecordDeps } from './record.js';
import type { AgentRows } from './rows.js';

/** Finds the agent that waits for a decision on one of its calls; null if it is gone. */
export const findWaitingAgent =
  (deps: RecordDeps & { rows: AgentRows; queue: Queue }) =>
  async (id: string): Promise<WaitingAgent | null> => {
    const agent = await deps.rows.byId(id);
    if (!agent) return null;
    return {
      commit: async (steps, { approval, status, others }) => {
        const goesOn = agent.status === 'waiting_approval' && others === 0;
        const record = createRecord(deps, agent)
          .add(...steps)
          .event('agent.tool_call', {
            phase: 'approval',
            approvalId: approval.id,
            callId: approval.call_id,
            tool: `${approval.tool}.${approval.action}`,
            status,
          });
        if (goesOn) record.move(['waiting_approval'], 'queued').add(jobOf(deps, agent, record.at));
        else record.only([agent.status]);
        await record.commit();
        if (goesOn) deps.queue.added(agent.lane);
      },
    };
  };
