import type { Agent } from '../../../src/client/index.js';
import type { Acts } from '../../page.js';
import { type Act, actTarget, reportDone } from '../../state/act.js';
import { agentTarget, hookTarget, type JumpTarget } from '../../state/locations.js';
import { possibleActs } from '../list.js';

export const hasAgentEnded = ({ status }: Agent): boolean =>
  status === 'completed' || status === 'failed' || status === 'stopped';

/** What started the agent: its parent, or a hook execution. `null` if neither did. */
export const agentOriginTarget = ({ hookId, executionId, parentId }: Agent): JumpTarget | null => {
  if (parentId !== null) return agentTarget(parentId);
  return hookId === null ? null : hookTarget(hookId, executionId);
};

export const agentActs = (agent: Agent): Acts => {
  const { id, name } = agent;
  const note = hasAgentEnded(agent)
    ? 'the agent has ended: the message starts a new turn'
    : 'delivered before the next step of the agent';
  return {
    message: {
      ...actTarget('agents', id, 'tree'),
      text: `Message to ${name}`,
      line: `adjutant agents message ${id} …`,
      doing: 'sending…',
      ask: { lines: [`Message to ${name} (${note})`], writes: true },
      call: ({ agents }, content) =>
        reportDone(agents.message({ id, body: { content } }), `Sent to ${name}`),
    },
    ...statusActs(agent),
    delete: {
      ...actTarget('agents', id, 'tree'),
      text: `Stop and delete agent ${name}`,
      line: `adjutant agents delete ${id}`,
      doing: 'deleting…',
      ask: { lines: [`Delete agent ${name}? It stops at once. There is no undo.`], name },
      call: ({ agents }) => reportDone(agents.delete({ id }), `${name} is deleted`),
    },
  };
};

const statusActs = (agent: Agent): Acts => {
  const { id, name, status } = agent;
  const act = (verb: 'pause' | 'resume' | 'stop', doing: string): Act => ({
    ...actTarget('agents', id, 'tree'),
    text: `${verb.replace(/^./, (first) => first.toUpperCase())} agent ${name}`,
    line: `adjutant agents ${verb} ${id}`,
    doing,
    call: async ({ agents }) => `${name}: ${(await agents[verb]({ id })).status}`,
  });
  return possibleActs<Act>({
    pause: ['queued', 'running', 'waiting_approval'].includes(status) && act('pause', 'pausing…'),
    start: status === 'paused' && act('resume', 'resuming…'),
    stop: !hasAgentEnded(agent) && {
      ...act('stop', 'stopping…'),
      ask: { lines: [`Stop ${name}? Its actions are not undone. The agent is kept.`] },
    },
  });
};
