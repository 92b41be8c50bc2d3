import type { ScreenPage } from '../../page.js';
import { bodyOf } from '../../state/layout.js';
import { needItems, overviewGoal } from './slice.js';
import { statusRows } from './status.js';
import { isWide, needCells, overviewView } from './view.js';

const EVERY_MS = 2000;
const SLOW_MS = 30_000;

export const overviewPage: ScreenPage = {
  name: 'overview',
  root: 'overview',
  title: 'Overview',
  tabs: [],
  items: needItems,
  opens: overviewGoal,
  related: overviewGoal,
  summary: (state) => {
    const { length } = needItems(state);
    return `${length} ${length === 1 ? 'needs' : 'need'} you`;
  },
  glossary: [
    ['expiring', 'a credential that ends within a week'],
    ['queue', 'deliveries that are kept and not yet run'],
  ],
  needs: (state) => [
    { is: 'overview', everyMs: EVERY_MS },
    { is: 'channel', channel: 'hook.execution' },
    { is: 'list', list: 'hooks', everyMs: SLOW_MS },
    ...(isWide(bodyOf(state))
      ? [{ is: 'list' as const, list: 'agents' as const, everyMs: EVERY_MS }]
      : []),
  ],
  view: overviewView,
  cells: needCells,
  head: (state) => {
    const { known } = state.overview;
    return known ? statusRows(state, known, bodyOf(state).width) : [];
  },
};
