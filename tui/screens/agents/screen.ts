import type { Agent } from '../../../src/client/index.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { counted } from '../../parts/words.js';
import { bodyOf } from '../../state/layout.js';
import { rowsOf } from '../../state/lists.js';
import type { ScreenPlace } from '../../state/places.js';
import { chosenOf } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { ringOf } from '../../state/streams.js';
import { lookOf } from '../../state/ui.js';
import {
  ABOVE,
  agentHead,
  agentSummary,
  agentText,
  agentView,
  isAtTree,
  shownAgent,
  TABS,
} from './detail.js';
import { eventPieces } from './events.js';
import {
  agentActs,
  agentItems,
  causeOf,
  hasAgentEnded,
  isOverHidden,
  waitingCall,
} from './slice.js';
import { chosenBranch, treeItems } from './tree.js';
import { agentCells, agentsView, isBeside } from './view.js';

const EVERY_MS = 2000;
const TALK_MS = 1000;
const OVER_MS = 15_000;
/**
 * Time that a selection must last before its messages are loaded: a user who moves down the list
 * needs none of them.
 */
const REST_MS = 200;

const GLOSSARY = [
  ['waiting_approval', 'it asks you: screen 4'],
  ['untrusted', 'has read what came from outside'],
] as const;

const chosenAgent = (state: State): Agent | null =>
  state.lists.agents.byId[chosenOf(agentsPage, state)?.id ?? ''] ?? null;

/** Returns the need for the messages of an agent, as they are written. */
const wordsOf = (agent: Agent | null, afterMs: number): PageNeed[] =>
  agent === null
    ? []
    : [
        {
          is: 'list',
          list: 'messages',
          of: agent.sessionId,
          everyMs: hasAgentEnded(agent) ? OVER_MS : TALK_MS,
          afterMs,
        },
      ];

const listed: PageNeed[] = [
  { is: 'list', list: 'agents', everyMs: EVERY_MS },
  { is: 'channel', channel: 'agent.status' },
];

export const agentsPage: ScreenPage = {
  name: 'agents',
  root: 'agents',
  title: 'Agents',
  tabs: [],
  items: agentItems,
  opens: (state) => {
    const agent = chosenAgent(state);
    return agent && { page: 'agent', id: agent.id };
  },
  related: (state) => {
    const agent = chosenAgent(state);
    return agent && causeOf(agent);
  },
  acts: (state) => {
    const agent = chosenAgent(state);
    return agent ? agentActs(agent) : {};
  },
  leaves: () => ({ add: ['agents', 'spawn'] }),
  pages: (state) =>
    state.lists.agents.nextCursor === null || isOverHidden(state) ? null : 'agents',
  summary: (state) => {
    const having = (status: string) =>
      rowsOf(state.lists.agents).filter((each) => each.status === status).length;
    return `${counted(agentItems(state).length, 'agent')}: ${having('running')} running, ${having('waiting_approval')} waiting for you, ${having('paused')} paused   (. all)`;
  },
  glossary: GLOSSARY,
  needs: (state) => [
    ...listed,
    ...(isBeside(bodyOf(state)) ? wordsOf(chosenAgent(state), REST_MS) : []),
  ],
  view: agentsView,
  cells: agentCells,
};

const branchBelow = (state: State, agent: Agent | null): ScreenPlace | null => {
  const branch = chosenBranch(state);
  return branch && branch.id !== agent?.id ? { page: 'agent', id: branch.id } : null;
};

/**
 * Returns the need for the tree. It is loaded again and again while the tree is shown, or if the
 * list does not contain the agent.
 */
const treeNeed = (state: State): PageNeed => {
  const { id } = lookOf(state.ui);
  const isWatched = isAtTree(state) || !(state.lists.agents.byId[id ?? ''] ?? null);
  return { is: 'list', list: 'tree', of: id, ...(isWatched && { everyMs: EVERY_MS }) };
};

export const agentPage: ScreenPage = {
  name: 'agent',
  root: 'agents',
  title: 'Agent',
  tabs: TABS,
  items: (state) => (isAtTree(state) ? treeItems(state) : []),
  text: agentText,
  textHeight: (_, { height }) => height - ABOVE,
  isTail: true,
  opens: (state) => {
    const agent = shownAgent(state);
    if (isAtTree(state)) return branchBelow(state, agent);
    const call = agent && waitingCall(state, agent);
    return call && { root: 'approvals', places: [], selected: call.id };
  },
  related: (state) => {
    const agent = shownAgent(state);
    return agent && causeOf(agent);
  },
  acts: (state) => {
    const agent = isAtTree(state) ? chosenBranch(state) : shownAgent(state);
    return agent ? agentActs(agent) : {};
  },
  summary: agentSummary,
  glossary: GLOSSARY,
  needs: (state) => [
    ...listed,
    treeNeed(state),
    { is: 'agent', id: lookOf(state.ui).id ?? '' },
    ...wordsOf(shownAgent(state), 0),
  ],
  view: agentView,
  head: agentHead,
  stream: ({ ui, streams, session }) =>
    eventPieces(ringOf(streams, lookOf(ui).id ?? ''), session.now),
};
