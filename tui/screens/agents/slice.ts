import type { Agent, ApprovalReply } from '../../../src/client/index.js';
import type { ActVerb } from '../../keys.js';
import type { Goal, Item } from '../../page.js';
import type { Act } from '../../state/act.js';
import { rowsOf } from '../../state/lists.js';
import { fits } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';

/** The data and the acts of the pages of agents; pure. */

export const agentTrustText = ({ untrusted }: Agent): string =>
  untrusted ? 'untrusted' : 'trusted';

export const hasAgentEnded = ({ status }: Agent): boolean =>
  status === 'completed' || status === 'failed' || status === 'stopped';

/** An agent, with its depth below its ancestors. */
export interface Branch {
  agent: Agent;
  depth: number;
}

/** Number of ended agents that are shown; `.` shows all that are loaded. */
const MOST_OVER = 50;

/**
 * Returns the agents that have not ended and the last ones that have, each below the agent that
 * spawned it.
 */
const branches = (state: State): Branch[] => {
  const { isMore } = lookOf(state.ui);
  const over = rowsOf(state.lists.agents).filter(hasAgentEnded);
  const hidden = new Set(isMore ? [] : over.slice(MOST_OVER).map(({ id }) => id));
  return treeOf(rowsOf(state.lists.agents).filter(({ id }) => !hidden.has(id)));
};

/** True if ended agents are hidden: rows that are loaded below them would be hidden too. */
export const isOverHidden = (state: State): boolean =>
  agentItems(state).length < state.lists.agents.order.length;

/** Returns the agents as a tree. An agent whose parent is not shown is at the root. */
export const treeOf = (agents: readonly Agent[]): Branch[] => {
  const ids = new Set(agents.map(({ id }) => id));
  const below = new Map<string | null, Agent[]>();
  for (const agent of agents) {
    const under = agent.parentId !== null && ids.has(agent.parentId) ? agent.parentId : null;
    below.set(under, [...(below.get(under) ?? []), agent]);
  }
  const walk = (parent: string | null, depth: number): Branch[] =>
    (below.get(parent) ?? []).flatMap((agent) => [{ agent, depth }, ...walk(agent.id, depth + 1)]);
  return walk(null, 0);
};

export const itemOf = ({ agent }: Branch): Item => ({
  id: agent.id,
  name: agent.name,
  words: `${agent.status} ${agentTrustText(agent)} ${agent.model} ${agent.topic ?? ''}`,
  facts: { status: agent.status, state: agent.status, trust: agentTrustText(agent) },
});

export const agentItems = (state: State): Item[] => branches(state).map(itemOf);

/** Returns the agents that the filter leaves. */
export const shownBranches = (state: State): Branch[] => {
  const { filter } = lookOf(state.ui);
  const all = branches(state);
  return filter === '' ? all : all.filter((branch) => fits(itemOf(branch), filter));
};

/** Returns the call for which an agent waits; null if there is none. */
export const waitingCall = ({ lists }: State, agent: Agent): ApprovalReply | null =>
  rowsOf(lists.approvals).find(
    ({ agentId, status }) => agentId === agent.id && status === 'pending',
  ) ?? null;

/** Returns in one line what the agent does now, or its outcome. */
export const doingOf = (state: State, agent: Agent): string => {
  const call = waitingCall(state, agent);
  if (call) return `${call.tool}.${call.action}`;
  return (agent.error ?? agent.result ?? '').split('\n', 1)[0] ?? '';
};

/** Returns what started the agent: its parent, or the execution of a hook; null if neither did. */
export const causeOf = ({ hookId, executionId, parentId }: Agent): Goal | null => {
  if (parentId !== null) {
    return { root: 'agents', places: [{ page: 'agent', id: parentId }], selected: parentId };
  }
  if (hookId === null) return null;
  const hook = { page: 'hook' as const, id: hookId };
  const run = { page: 'execution' as const, id: executionId, of: hookId };
  return { root: 'hooks', places: executionId === null ? [hook] : [hook, run], selected: hookId };
};

/** Returns the acts that are possible on an agent in its current status. */
export const agentActs = (agent: Agent): Partial<Record<ActVerb, Act>> => ({
  message: message(agent),
  ...(['queued', 'running', 'waiting_approval'].includes(agent.status) && { pause: pause(agent) }),
  ...(agent.status === 'paused' && { start: resume(agent) }),
  ...(!hasAgentEnded(agent) && { stop: stop(agent) }),
  delete: remove(agent),
});

const on = ({ id }: Agent): Pick<Act, 'row' | 'touches'> => ({
  row: { list: 'agents', id },
  touches: ['agents', 'tree'],
});

const message = (agent: Agent): Act => ({
  ...on(agent),
  text: `Message to ${agent.name}`,
  line: `adjutant agents message ${agent.id} …`,
  doing: 'sending…',
  ask: {
    lines: [
      hasAgentEnded(agent)
        ? `Message to ${agent.name} (it has ended, and takes it as its next turn)`
        : `Message to ${agent.name} (read before its next step)`,
    ],
    writes: true,
  },
  call: async (client, content) => {
    await client.agents.message({ id: agent.id, body: { content } });
    return `Sent to ${agent.name}`;
  },
});

const pause = (agent: Agent): Act => ({
  ...on(agent),
  text: `Pause agent ${agent.name}`,
  line: `adjutant agents pause ${agent.id}`,
  doing: 'pausing…',
  call: async (client) => {
    const { status } = await client.agents.pause({ id: agent.id });
    return `${agent.name}: ${status}`;
  },
});

const resume = (agent: Agent): Act => ({
  ...on(agent),
  text: `Resume agent ${agent.name}`,
  line: `adjutant agents resume ${agent.id}`,
  doing: 'resuming…',
  call: async (client) => {
    const { status } = await client.agents.resume({ id: agent.id });
    return `${agent.name}: ${status}`;
  },
});

const stop = (agent: Agent): Act => ({
  ...on(agent),
  text: `Stop agent ${agent.name}`,
  line: `adjutant agents stop ${agent.id}`,
  doing: 'stopping…',
  ask: { lines: [`Stop ${agent.name}? What it has done stays done; it is kept.`] },
  call: async (client) => {
    const { status } = await client.agents.stop({ id: agent.id });
    return `${agent.name}: ${status}`;
  },
});

const remove = (agent: Agent): Act => ({
  ...on(agent),
  text: `Stop and delete agent ${agent.name}`,
  line: `adjutant agents delete ${agent.id}`,
  doing: 'deleting…',
  ask: {
    lines: [`Delete agent ${agent.name}? It stops at once. There is no undo.`],
    name: agent.name,
  },
  call: async (client) => {
    await client.agents.delete({ id: agent.id });
    return `${agent.name} is deleted`;
  },
});
