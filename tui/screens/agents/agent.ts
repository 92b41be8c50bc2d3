import type { Agent } from '../../../src/client/index.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { orgFacts } from '../../parts/orgs.js';
import { fitRow, row, rowWidth, type ScreenRow, tonedSpan } from '../../parts/row.js';
import { countedNoun, factRows, formatDollars, jsonRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import { rowTarget, type ScreenPlace } from '../../state/locations.js';
import type { State } from '../../state/state.js';
import { getStreamRing } from '../../state/streams.js';
import { topView } from '../../state/ui.js';
import { findStateTone } from '../../theme.js';
import { detailPage } from '../detail.js';
import { tableFor } from '../list.js';
import { agentActs, agentOriginTarget, hasAgentEnded } from './acts.js';
import {
  agentBranches,
  agentStatus,
  agentsNeeds,
  agentTrustText,
  type Branch,
  branchColumns,
  branchItem,
  GLOSSARY,
  messagesNeed,
} from './agents.js';
import { eventPieces, eventRows } from './events.js';
import { stepRows } from './step.js';
import { pendingCallOfAgent, transcriptRows } from './transcript.js';

const EVERY_MS = 2000;
const EVENTS = 1;
const TREE = 2;
/** Rank of the column that is dropped first. */
const LAST = 9;

/** From the list, or from the agent's own tree, because the list may not go back far enough. */
const shownAgent = ({ ui, lists: { agents, tree } }: State): Agent | null => {
  const id = topView(ui).id ?? '';
  return agents.byId[id] ?? tree.byId[id] ?? null;
};

const isAtTree = ({ ui }: State): boolean => topView(ui).tab === TREE;

/** The shown agent and its descendants: each agent before its sub-agents, in spawn order. */
const branches = ({ ui, lists: { tree } }: State): Branch[] =>
  tree.of === topView(ui).id ? agentBranches(listRows(tree).toReversed()) : [];

const tree = tableFor<Branch>({
  noun: 'agent',
  list: 'tree',
  rows: branches,
  item: branchItem,
  // The cost is kept longest. The trust is dropped first, because the agent's own page shows it.
  columns: (state) =>
    branchColumns(state)
      .filter(({ head }) => head !== 'STEP')
      .map((column) => (column.head === 'TRUST' ? { ...column, rank: LAST } : column)),
  empty: ['No matches.'],
});

/** If there is no room, the name is cut. */
const agentHead = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const status = agentStatus(state, agent);
  const trust = agent.untrusted ? tonedSpan('untrusted', 'UNTRUSTED') : 'trusted';
  const standing = row('   ', tonedSpan(findStateTone(status), status), '   ', trust);
  const name = fitRow([tonedSpan('strong', agent.name)], Math.max(0, width - rowWidth(standing)));
  return [[...name, ...standing], row(tonedSpan('muted', formatAgentNumbers(agent)))];
};

const formatAgentNumbers = ({ model, steps, limits, usage }: Agent): string => {
  const tokens = usage.inputTokens + usage.outputTokens;
  return [
    model,
    `step ${steps}/${limits.maxSteps}`,
    `${tokens.toLocaleString('en')} tokens`,
    `${formatDollars(usage.costUsd)} of ${formatDollars(limits.maxCostUsd)}`,
  ].join('   ');
};

const agentText = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const { tab, isRaw, isWrapped } = topView(state.ui);
  if (tab === 0) return [...transcriptRows(state, agent, width), ...stepRows(state, agent, width)];
  if (tab === EVENTS) return eventRows(state, agent.id);
  return isRaw ? jsonRows(agent, width, isWrapped) : renderAgentFacts(state, agent, width);
};

const renderAgentFacts = (state: State, agent: Agent, width: number): ScreenRow[] => {
  const { session, lists } = state;
  const { now } = session;
  const when = (at: string | null): string => (at === null ? '-' : timeOfEvent(at, now));
  const { limits, usage } = agent;
  const { maxSteps, maxSeconds, maxDepth, maxAnswerTokens } = limits;
  const parent = agent.parentId === null ? null : lists.agents.byId[agent.parentId];
  return factRows(
    [
      ['Id', agent.id],
      ...orgFacts(state, agent),
      ['Model', `${agent.model}${agent.topic === null ? '' : ` for topic ${agent.topic}`}`],
      [
        'Trust',
        agent.untrusted ? 'untrusted: the agent has read external input' : agentTrustText(agent),
      ],
      ['Parent', parent?.name ?? agent.parentId ?? 'none'],
      ['Hook', agent.hookId ?? 'none'],
      ['Session', agent.sessionId],
      ['Tokens', `${usage.inputTokens} in, ${usage.outputTokens} out, of ${limits.maxTokens}`],
      [
        'Limits',
        `${maxSteps} steps, ${maxSeconds} s, depth ${maxDepth}, replies up to ${maxAnswerTokens} tokens`,
      ],
      ['Created', when(agent.createdAt)],
      ['Started', when(agent.startedAt)],
      ['Finished', when(agent.finishedAt)],
      ['Prompt', agent.prompt],
      ...(agent.result === null ? [] : [['Result', agent.result] as const]),
      ...(agent.error === null ? [] : [['Error', agent.error] as const]),
    ],
    width,
  );
};

const treeSummary = (state: State): string => {
  const agents = branches(state).map(({ agent }) => agent);
  const below = countedNoun(Math.max(0, agents.length - 1), 'sub-agent');
  const busy = agents.filter((agent) => !hasAgentEnded(agent)).length;
  const cost = agents.reduce((sum, { usage }) => sum + usage.costUsd, 0);
  return `${below}   ${busy} active   ${formatDollars(cost)} in total`;
};

const branchBelow = (state: State): ScreenPlace | null => {
  const id = tree.chosen(state)?.agent.id;
  return id !== undefined && id !== shownAgent(state)?.id ? { page: 'agent', id } : null;
};

/** The tree is reloaded while it is shown, or if the list does not contain the agent. */
const treeNeed = (state: State): PageNeed => {
  const { id } = topView(state.ui);
  const isWatched = isAtTree(state) || !(state.lists.agents.byId[id ?? ''] ?? null);
  return { is: 'list', list: 'tree', of: id, ...(isWatched && { everyMs: EVERY_MS }) };
};

export const agentPage: ScreenPage = {
  ...detailPage<Agent>({
    name: 'agent',
    title: 'Agent',
    noun: 'agent',
    tabs: ['Transcript', 'Events', 'Tree', 'Facts'],
    list: 'tree',
    shown: shownAgent,
    head: agentHead,
    text: agentText,
    tables: { [TREE]: tree },
    isTail: true,
  }),
  opens: (state) => {
    if (isAtTree(state)) return branchBelow(state);
    const agent = shownAgent(state);
    const call = agent && pendingCallOfAgent(state, agent);
    return call && rowTarget('approvals', call.id);
  },
  related: (state) => {
    const agent = shownAgent(state);
    return agent && agentOriginTarget(agent);
  },
  acts: (state) => {
    const agent = isAtTree(state) ? tree.chosen(state)?.agent : shownAgent(state);
    return agent ? agentActs(agent) : {};
  },
  // Whether the agent is followed, and the last known event.
  summary: (state) => {
    if (isAtTree(state)) return treeSummary(state);
    const { isFollowing, id } = topView(state.ui);
    const { last, gaps } = getStreamRing(state.streams, id ?? '');
    const missing =
      gaps.length === 0 ? 'no gaps' : `${countedNoun(gaps.length, 'gap')}, see Events`;
    return `${isFollowing ? 'following' : 'not following: f'}   event ${last}   ${missing}`;
  },
  glossary: GLOSSARY,
  needs: (state) => [
    ...agentsNeeds,
    treeNeed(state),
    { is: 'agent', id: topView(state.ui).id ?? '' },
    ...messagesNeed(shownAgent(state), 0),
  ],
  stream: ({ ui, streams, session }) =>
    eventPieces(getStreamRing(streams, topView(ui).id ?? ''), session.now),
};
