import type { Agent } from '../../../src/client/index.js';
import type { Item } from '../../page.js';
import { faceOf, facing } from '../../parts/faces.js';
import type { ScreenRow, Size } from '../../parts/row.js';
import { type ScreenColumn, tableRows } from '../../parts/table.js';
import { counted, dollars } from '../../parts/words.js';
import { rowsOf } from '../../state/lists.js';
import { chosenAt, fits } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { type Branch, hasAgentEnded, itemOf, treeOf } from './slice.js';
import { branchColumns } from './view.js';

/**
 * Returns the shown agent and all agents below it: each agent before those that it spawned, in the
 * order in which they were spawned.
 */
const branches = ({ ui, lists: { tree } }: State): Branch[] =>
  tree.of === lookOf(ui).id ? treeOf(rowsOf(tree).toReversed()) : [];

export const treeItems = (state: State): Item[] => branches(state).map(itemOf);

const shownBranches = (state: State): Branch[] => {
  const { filter } = lookOf(state.ui);
  return branches(state).filter((branch) => filter === '' || fits(itemOf(branch), filter));
};

/** Returns the selected agent, on which a key acts. */
export const chosenBranch = (state: State): Agent | null => {
  const agents = shownBranches(state).map(({ agent }) => agent);
  return agents[chosenAt(agents, lookOf(state.ui).selected)] ?? null;
};

export const treeView = (state: State, size: Size): ScreenRow[] => {
  const shown = shownBranches(state);
  const order = shown.map(({ agent }) => agent.id);
  const words = { ...facing(state.session, size), noun: 'tree', empty: ['Nothing fits.'] };
  const face = faceOf({ ...state.lists.tree, order }, words);
  if (face) return face;
  const at = order.indexOf(chosenBranch(state)?.id ?? '');
  return tableRows(shown, treeColumns(state), size, { at });
};

/**
 * Columns of the tree. If the room is short, the cost stays and the trust goes, since the agent's
 * own page shows the trust.
 */
const treeColumns = (state: State): ScreenColumn<Branch>[] =>
  branchColumns(state)
    .filter(({ head }) => head !== 'STEP')
    .map((column) => (column.head === 'TRUST' ? { ...column, rank: LAST } : column));
const LAST = 9;

/** Returns how many agents there are, and their total cost. */
export const treeSummary = (state: State): string => {
  const agents = branches(state).map(({ agent }) => agent);
  const below = counted(Math.max(0, agents.length - 1), 'agent');
  const busy = agents.filter((agent) => !hasAgentEnded(agent)).length;
  const cost = agents.reduce((sum, { usage }) => sum + usage.costUsd, 0);
  return `${below} below it   ${busy} not over   ${dollars(cost)} together`;
};
