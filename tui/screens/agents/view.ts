import { faceOf, facing } from '../../parts/faces.js';
import { joinPanes, panesOf } from '../../parts/panes.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { type Cells, cellsOf, type ScreenColumn, tableRows } from '../../parts/table.js';
import { since } from '../../parts/times.js';
import { dollars } from '../../parts/words.js';
import { chosenAt } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { agentTrustText, type Branch, doingOf, shownBranches } from './slice.js';
import { transcriptRows } from './transcript.js';

const EMPTY = [
  'No agents yet.',
  'Hooks spawn them, and you can.',
  '  a  spawn one      adjutant agents spawn',
];
/** From this width on, the transcript of the selected agent is beside the list. */
const WIDE = 120;

export const isBeside = ({ width }: Size): boolean => width >= WIDE;

export const branchColumns = (state: State): ScreenColumn<Branch>[] => [
  ...namedColumns(state),
  ...countedColumns(state),
  { head: 'DOING', text: ({ agent }) => doingOf(state, agent), least: 10, most: 200, rank: 1 },
];

const namedColumns = ({ lists }: State): ScreenColumn<Branch>[] => [
  {
    head: 'NAME',
    text: ({ agent, depth }) => `${'  '.repeat(Math.min(depth, 8))}${agent.name}`,
    least: 12,
    most: 40,
    rank: 0,
  },
  {
    head: 'STATE',
    text: ({ agent }) => lists.agents.busy[agent.id] ?? agent.status,
    isState: true,
    least: 9,
    most: 16,
    rank: 0,
  },
  {
    head: 'TRUST',
    text: ({ agent }) => agentTrustText(agent),
    tone: ({ agent }) => (agent.untrusted ? 'untrusted' : undefined),
    least: 9,
    most: 9,
    rank: 2,
  },
];

const countedColumns = ({ session }: State): ScreenColumn<Branch>[] => [
  {
    head: 'STEP',
    text: ({ agent }) => String(agent.steps),
    isNumber: true,
    least: 4,
    most: 5,
    rank: 5,
  },
  {
    head: 'COST',
    text: ({ agent }) => dollars(agent.usage.costUsd),
    isNumber: true,
    least: 5,
    most: 8,
    rank: 4,
  },
  {
    head: 'AGE',
    text: ({ agent }) => since(agent.createdAt, session.now),
    isNumber: true,
    least: 4,
    most: 5,
    rank: 3,
  },
];

export const agentCells = (state: State): Cells[] =>
  cellsOf(shownBranches(state), branchColumns(state), ({ agent }) => agent.id);

/**
 * Shows the list as a tree and, if there is room, the transcript of the selected agent beside it.
 */
export const agentsView = (state: State, size: Size): ScreenRow[] => {
  const shown = shownBranches(state);
  const { agents } = state.lists;
  const order = shown.map(({ agent }) => agent.id);
  const words = { ...facing(state.session, size), noun: 'agents', empty: EMPTY };
  const face = faceOf({ ...agents, order }, words);
  if (face) return face;
  const look = lookOf(state.ui);
  const at = chosenAt(
    shown.map(({ agent }) => agent),
    look.selected,
  );
  if (!isBeside(size)) return tableRows(shown, branchColumns(state), size, { at });
  const panes = panesOf(size, look, shown.length + 1);
  const list = tableRows(shown, branchColumns(state), panes.list, { at });
  const agent = shown[at]?.agent;
  if (!agent || !panes.detail) return list;
  const status = tonedSpan(toneOf(agent.status), agent.status);
  const trust = tonedSpan(agent.untrusted ? 'untrusted' : undefined, agentTrustText(agent));
  const said = transcriptRows(state, agent, panes.detail.width);
  const end = said.slice(-Math.max(1, panes.detail.height - 2));
  const head = row(tonedSpan('strong', agent.name), '   ', status, '   ', trust);
  return joinPanes(panes, list, [head, [], ...end]);
};
