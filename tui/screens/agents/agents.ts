import type { Agent } from '../../../src/client/index.js';
import type { Item, PageNeed, ScreenPage } from '../../page.js';
import { orgColumns } from '../../parts/orgs.js';
import { isBeside } from '../../parts/panes.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { column, numberColumn, type ScreenColumn, stateColumn } from '../../parts/table.js';
import { countedNoun, formatDollars } from '../../parts/text.js';
import { formatAge } from '../../parts/times.js';
import { computeBodySize } from '../../state/layout.js';
import { listRows } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { listPage } from '../list.js';
import { agentActs, agentOriginTarget, hasAgentEnded } from './acts.js';
import { pendingCallOfAgent, transcriptRows } from './transcript.js';

const EVERY_MS = 2000;
const TALK_MS = 1000;
const OVER_MS = 15_000;
/**
 * Time that a selection must last before its messages are loaded, in milliseconds, so that moving
 * down the list loads nothing.
 */
const REST_MS = 200;
/** Number of ended agents shown. `.` shows all loaded ones. */
const MAX_OVER = 50;

export const GLOSSARY = [
  ['waiting_approval', 'an approval is pending: screen 4'],
  ['untrusted', 'has read external input'],
] as const;

export interface Branch {
  agent: Agent;
  depth: number;
}

/** An agent whose parent is not shown is at the root. */
export const agentBranches = (agents: readonly Agent[]): Branch[] => {
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

/** Active agents and the last ended ones, each below its parent. */
const branches = (state: State): Branch[] => {
  const { isMore } = topView(state.ui);
  const over = listRows(state.lists.agents).filter(hasAgentEnded);
  const hidden = new Set(isMore ? [] : over.slice(MAX_OVER).map(({ id }) => id));
  return agentBranches(listRows(state.lists.agents).filter(({ id }) => !hidden.has(id)));
};

export const agentTrustText = ({ untrusted }: Agent): string =>
  untrusted ? 'untrusted' : 'trusted';

export const branchItem = ({ agent }: Branch): Item => ({
  id: agent.id,
  name: agent.name,
  words: `${agent.status} ${agentTrustText(agent)} ${agent.model} ${agent.topic ?? ''}`,
  facts: { status: agent.status, state: agent.status, trust: agentTrustText(agent) },
});

const currentActivity = (state: State, agent: Agent): string => {
  const call = pendingCallOfAgent(state, agent);
  if (call) return `${call.tool}.${call.action}`;
  return (agent.error ?? agent.result ?? '').split('\n', 1)[0] ?? '';
};

export const branchColumns = (state: State): ScreenColumn<Branch>[] => [
  column(
    'NAME',
    [12, 40, 0],
    ({ agent, depth }) => `${'  '.repeat(Math.min(depth, 8))}${agent.name}`,
  ),
  stateColumn('STATE', [9, 16, 0], ({ agent }) => agentStatus(state, agent)),
  {
    ...column<Branch>('TRUST', [9, 9, 2], ({ agent }) => agentTrustText(agent)),
    tone: ({ agent }) => (agent.untrusted ? 'untrusted' : undefined),
  },
  numberColumn('STEP', [4, 5, 5], ({ agent }) => String(agent.steps)),
  numberColumn('COST', [5, 8, 4], ({ agent }) => formatDollars(agent.usage.costUsd)),
  numberColumn('AGE', [4, 5, 3], ({ agent }) => formatAge(agent.createdAt, state.session.now)),
  column('DOING', [10, 200, 1], ({ agent }) => currentActivity(state, agent)),
  ...orgColumns<Branch>(
    state,
    listRows(state.lists.agents).map(({ orgId }) => orgId),
    ({ agent }) => agent.orgId,
  ),
];

export const agentStatus = ({ lists }: State, { id, status }: Agent): string =>
  lists.agents.busy[id] ?? status;

export const messagesNeed = (agent: Agent | null, afterMs: number): PageNeed[] => {
  if (agent === null) return [];
  const everyMs = hasAgentEnded(agent) ? OVER_MS : TALK_MS;
  return [{ is: 'list', list: 'messages', of: agent.sessionId, everyMs, afterMs }];
};

export const agentsNeeds: PageNeed[] = [
  { is: 'list', list: 'agents', everyMs: EVERY_MS },
  { is: 'channel', channel: 'agent.status' },
];

const latest = (state: State, { agent }: Branch, { width, height }: Size): ScreenRow[] => {
  const status = tonedSpan(findStateTone(agent.status), agent.status);
  const trust = tonedSpan(agent.untrusted ? 'untrusted' : undefined, agentTrustText(agent));
  const end = transcriptRows(state, agent, width).slice(-Math.max(1, height - 2));
  return [row(tonedSpan('strong', agent.name), '   ', status, '   ', trust), [], ...end];
};

export const agentsPage: ScreenPage = listPage<Branch>({
  name: 'agents',
  title: 'Agents',
  noun: 'agent',
  list: 'agents',
  rows: branches,
  item: branchItem,
  columns: branchColumns,
  aside: latest,
  isBesideOnly: true,
  empty: [
    'No agents yet.',
    'Hooks spawn agents. You can spawn one too.',
    '  a  spawn an agent      adjutant agents spawn',
  ],
  opens: ({ agent }) => ({ page: 'agent', id: agent.id }),
  related: ({ agent }) => agentOriginTarget(agent),
  acts: ({ agent }) => agentActs(agent),
  leaves: () => ({ add: ['agents', 'spawn'] }),
  // While ended agents are hidden, further rows would be hidden too.
  pages: (state) => {
    const { order, nextCursor } = state.lists.agents;
    return nextCursor === null || branches(state).length < order.length ? null : 'agents';
  },
  summary: ({ lists }, shown) => {
    const having = (status: string) =>
      listRows(lists.agents).filter((each) => each.status === status).length;
    return `${countedNoun(shown.length, 'agent')}: ${having('running')} running, ${having('waiting_approval')} waiting for you, ${having('paused')} paused   (. all)`;
  },
  glossary: GLOSSARY,
  needs: (state, branch) => [
    ...agentsNeeds,
    ...(isBeside(computeBodySize(state)) ? messagesNeed(branch?.agent ?? null, REST_MS) : []),
  ],
});
