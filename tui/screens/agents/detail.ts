import type { Agent } from '../../../src/client/index.js';
import { facing, goneRows } from '../../parts/faces.js';
import {
  apart,
  fitted,
  row,
  rowWidth,
  type ScreenRow,
  type Size,
  tonedSpan,
} from '../../parts/row.js';
import { tabsRow } from '../../parts/tabs.js';
import { factRows, jsonRows, tailed } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import { dollars } from '../../parts/words.js';
import type { State } from '../../state/state.js';
import { ringOf } from '../../state/streams.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { eventRows } from './events.js';
import { agentTrustText } from './slice.js';
import { transcriptRows } from './transcript.js';
import { treeSummary, treeView } from './tree.js';

export const TABS = ['Transcript', 'Events', 'Tree', 'Facts'];
const TREE = 2;
/** Rows above the text, for the name and the numbers. */
export const ABOVE = 3;

/**
 * Returns the agent of the page, from the list or from its own tree: the list may not go back far
 * enough.
 */
export const shownAgent = ({ ui, lists: { agents, tree } }: State): Agent | null => {
  const id = lookOf(ui).id ?? '';
  return agents.byId[id] ?? tree.byId[id] ?? null;
};

export const isAtTree = ({ ui }: State): boolean => lookOf(ui).tab === TREE;

/** Shows one agent: its transcript, its events, its tree or its facts. */
export const agentView = (state: State, size: Size): ScreenRow[] => {
  const agent = shownAgent(state);
  if (!agent) return goneRows(state.lists.tree, 'agent', facing(state.session, size));
  const look = lookOf(state.ui);
  const tabs = tabsRow(TABS, look.tab);
  const [name = [], numbers = []] = agentHead(state, size.width - rowWidth(tabs) - 1);
  const head = apart(name, tabs, size.width);
  const body = { ...size, height: size.height - ABOVE };
  if (isAtTree(state)) return [head, numbers, [], ...treeView(state, body)];
  return [head, numbers, [], ...tailed(agentText(state, size.width) ?? [], look, body)];
};

/**
 * Returns the name and the status of the agent, then its numbers. If the room is short, the name is
 * cut.
 */
export const agentHead = (state: State, width = Number.MAX_SAFE_INTEGER): ScreenRow[] => {
  const agent = shownAgent(state);
  if (!agent) return [];
  const status = state.lists.agents.busy[agent.id] ?? agent.status;
  const trust = agent.untrusted ? tonedSpan('untrusted', 'UNTRUSTED') : 'trusted';
  const standing = row('   ', tonedSpan(toneOf(status), status), '   ', trust);
  const name = fitted([tonedSpan('strong', agent.name)], Math.max(0, width - rowWidth(standing)));
  return [[...name, ...standing], row(tonedSpan('muted', numbersOf(agent)))];
};

const limitsOf = (limits: Agent['limits']): string => {
  const { maxSteps, maxSeconds, maxDepth, maxAnswerTokens } = limits;
  return `${maxSteps} steps, ${maxSeconds} s, depth ${maxDepth}, answers of ${maxAnswerTokens} tokens`;
};

const numbersOf = ({ model, steps, limits, usage }: Agent): string => {
  const tokens = usage.inputTokens + usage.outputTokens;
  return [
    model,
    `step ${steps}/${limits.maxSteps}`,
    `${tokens.toLocaleString('en')} tokens`,
    `${dollars(usage.costUsd)} of ${dollars(limits.maxCostUsd)}`,
  ].join('   ');
};

/** Returns the text of the current tab; null for the tree. */
export const agentText = (state: State, width: number): ScreenRow[] | null => {
  const agent = shownAgent(state);
  if (!agent || isAtTree(state)) return null;
  const { tab, isRaw, isWrapped } = lookOf(state.ui);
  if (tab === 0) return transcriptRows(state, agent, width);
  if (tab === 1) return eventRows(state, agent.id);
  return isRaw ? jsonRows(agent, width, isWrapped) : factsOf(state, agent, width);
};

const factsOf = ({ session: { now }, lists }: State, agent: Agent, width: number): ScreenRow[] => {
  const when = (at: string | null): string => (at === null ? '-' : timeOfEvent(at, now));
  const { limits, usage } = agent;
  const parent = agent.parentId === null ? null : lists.agents.byId[agent.parentId];
  return factRows(
    [
      ['Id', agent.id],
      ['Model', `${agent.model}${agent.topic === null ? '' : ` for topic ${agent.topic}`}`],
      [
        'Trust',
        agent.untrusted ? 'untrusted: it has read what came from outside' : agentTrustText(agent),
      ],
      ['Parent', parent?.name ?? agent.parentId ?? 'none'],
      ['Hook', agent.hookId ?? 'none'],
      ['Session', agent.sessionId],
      ['Tokens', `${usage.inputTokens} in, ${usage.outputTokens} out, of ${limits.maxTokens}`],
      ['Limits', limitsOf(limits)],
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

/** Returns the summary: if the agent is followed, and up to which event it is known. */
export const agentSummary = (state: State): string => {
  if (isAtTree(state)) return treeSummary(state);
  const { isFollowing, id } = lookOf(state.ui);
  const { last, gaps } = ringOf(state.streams, id ?? '');
  const missing = gaps.length === 0 ? 'no gap' : `${gaps.length} of its gaps shown in Events`;
  return `${isFollowing ? 'following' : 'not following: f'}   event ${last}   ${missing}`;
};
