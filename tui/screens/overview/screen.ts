import type { Page } from '../../page.js';
import { chosenOf } from '../../state/chosen.js';
import type { State } from '../../state/state.js';
import { goalOf, needItems } from './slice.js';
import { overviewView } from './view.js';

/** Ours: five calls make it, so it is read less often than one call would be. */
const EVERY_MS = 5000;

const goal = (state: State) => {
  const chosen = chosenOf(overviewPage, state);
  return chosen && goalOf(state, chosen.id);
};

export const overviewPage: Page = {
  name: 'overview',
  root: 'overview',
  title: 'Overview',
  tabs: [],
  items: needItems,
  opens: goal,
  related: goal,
  summary: (state) => `${needItems(state).length} need you`,
  needs: () => [
    { is: 'overview', everyMs: EVERY_MS },
    { is: 'channel', channel: 'hook.execution' },
  ],
  view: overviewView,
};
