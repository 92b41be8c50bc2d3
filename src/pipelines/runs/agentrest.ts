import { z } from 'zod';
import { type AgentRows, UNFINISHED } from '../../agents/module.js';
import type { Hub } from '../../realtime/module.js';
import type { BackgroundWork } from './background.js';
import { type RecordRunDeps, recordRun } from './record.js';
import type { RunStage } from './run.js';

interface AgentRestDeps {
  hub: Hub;
  rows: Pick<AgentRows, 'byId'>;
  record: RecordRunDeps;
  background: BackgroundWork;
}

const AGENT_WAITS = 'The agent waits for you';

/** In these states, an agent waits for a person. */
const RESTING = ['waiting_approval', 'paused'];

const statusEvent = z.object({ agentId: z.string() });

/**
 * Watches the agent of a stage, so that the time of the run does not count while the agent waits
 * for a person.
 */
export const createAgentRest = ({ hub, rows, record, background }: AgentRestDeps) => {
  const watched = new Map<string, { runId: string; key: string }>();

  const look = (agentId: string): void => {
    const at = watched.get(agentId);
    if (!at) return;
    background.begin(at.runId, async () => {
      const run = await record.runs.byId(at.runId);
      const row = run?.stages.get(at.key);
      if (!run || row?.agent_id !== agentId || row.status !== 'running') {
        watched.delete(agentId);
        return;
      }
      const agent = await rows.byId(agentId);
      // An agent that is started again is watched again.
      if (!agent || !UNFINISHED.includes(agent.status)) watched.delete(agentId);
      const rests = RESTING.includes(agent?.status ?? '') ? 1 : 0;
      if (rests === row.rests) return;
      // Keeps a reason that was set elsewhere.
      const isReplaceable = row.reason === null || row.reason === AGENT_WAITS;
      const change = { rests, ...(isReplaceable && { reason: rests === 1 ? AGENT_WAITS : null }) };
      if (!(await recordRun(record, run, { stages: new Map([[at.key, change]]) }))) look(agentId);
    });
  };

  hub.follow((_userId, channel, data) => {
    if (channel !== 'agent.status' || watched.size === 0) return;
    const event = statusEvent.safeParse(data);
    if (event.success) look(event.data.agentId);
  });

  return ({ run, row }: RunStage): void => {
    if (row.agent_id === null) return;
    watched.set(row.agent_id, { runId: run.row.id, key: row.key });
    look(row.agent_id);
  };
};
