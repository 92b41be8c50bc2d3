import { backActions, lookActions, tabActions } from '../control/moves.js';
import { screenPage } from '../screens.js';
import type { Root } from '../state/places.js';
import { itemsOf } from '../state/selection.js';
import type { StateAction } from '../state/state.js';
import { browsed, isBrowsed } from '../state/things.js';
import { type Look, lookOf } from '../state/ui.js';
import type { LinearCommand } from './commands.js';
import type { Linear } from './linear.js';
import { announceMenu, announcePage } from './readout.js';
import { chooseLine, goTo } from './select.js';

/** Words after which a page is announced. */

const run = ({ known }: Linear, actions: readonly StateAction[]): void => {
  for (const action of actions) known.store.dispatch(action);
};

/** Goes to a screen, without a filter, and opens the row that was named after the screen. */
export const enter = async (desk: Linear, root: Root, rest: string): Promise<void> => {
  run(desk, [{ type: 'ui.went', root, places: [] }]);
  await showLook(desk, { selected: null, filter: '' });
  if (rest !== '') await chooseLine(desk, rest);
};

/** Shows the same page in another way. */
export const showLook = async (desk: Linear, change: Partial<Look>): Promise<void> => {
  run(desk, [{ type: 'ui.looked', change }]);
  await announcePage(desk);
};

export const move =
  (word: LinearCommand) =>
  async (desk: Linear, rest: string): Promise<void> => {
    const state = desk.known.store.get();
    switch (word) {
      case 'open':
        return rest === '' ? openChosen(desk) : chooseLine(desk, rest);
      case 'back':
        return back(desk);
      case 'related':
        return goTo(desk, screenPage(state).related?.(state) ?? null);
      case 'palette':
        return browse(desk, rest);
      case 'filter':
        return showLook(desk, { filter: rest, selected: null, scroll: 0 });
      case 'reload':
        await desk.known.feed.reloadShown();
        return announcePage(desk);
      case 'return':
        run(desk, [{ type: 'ui.returned' }]);
        return announcePage(desk);
      case 'tab-next':
      case 'tab-before':
        run(desk, tabActions(state, word === 'tab-next' ? 1 : -1));
        return announcePage(desk);
      case 'raw':
      case 'more':
      case 'less':
        run(desk, lookActions(state, word));
        return announcePage(desk);
      default:
        return announcePage(desk);
    }
  };

const openChosen = async (desk: Linear): Promise<void> => {
  const state = desk.known.store.get();
  const page = screenPage(state);
  if (lookOf(state.ui).selected === null && itemsOf(page, state).length > 0) {
    desk.output.line('Which one? Say its number or its name.');
  } else await goTo(desk, page.opens?.(state) ?? null);
};

/** Leaves the filter, then the page; from a screen, goes to the menu. */
const back = async (desk: Linear): Promise<void> => {
  const actions = backActions(desk.known.store.get());
  if (actions.length === 0 || desk.told.isMenu) return announceMenu(desk);
  run(desk, actions);
  await showLook(desk, { selected: null });
};

const browse = async (desk: Linear, rest: string): Promise<void> => {
  const { root } = desk.known.store.get().ui;
  if (isBrowsed(rest)) await goTo(desk, { root, places: [{ page: 'browse', id: null, of: rest }] });
  else desk.output.line(`browse takes one of: ${browsed.join(', ')}.`);
};
