import { backActions, selectedLine, showActions } from '../control/moves.js';
import type { Move } from '../keys.js';
import { screenPage } from '../screens.js';
import { digitRoots, type JumpTarget, orgsTarget, roots } from '../state/locations.js';
import { browsedResources, isBrowsedResource } from '../state/resources.js';
import { filteredItems, selectedItem } from '../state/selection.js';
import type { StateAction } from '../state/state.js';
import { type ScreenView, topView } from '../state/ui.js';
import { helpLines, type LinearCommand, type LinearInput, parseLinearInput } from './commands.js';
import type { Linear } from './linear.js';
import { logInAgain } from './login.js';
import {
  announceMenu,
  announceNext,
  announcePage,
  announcePosition,
  announcePrevious,
} from './readout.js';
import { actOn, chooseLine, goTo, verbNames } from './select.js';

export const dispatchLine = async (desk: Linear, typed: string): Promise<boolean> => {
  const { store, clock } = desk.known;
  store.dispatch({ type: 'session.ticked', now: clock.now() });
  store.dispatch({ type: 'ui.said', message: null });
  const meaning = parseLinearInput(typed, screenPage(store.get()), verbNames(store.get()));
  if (meaning.is === 'command' && meaning.command === 'quit') return false;
  await follow(desk, meaning);
  return true;
};

const follow = async (desk: Linear, meaning: LinearInput): Promise<void> => {
  switch (meaning.is) {
    case 'nothing':
      return pause(desk);
    case 'number':
      return openNumber(desk, meaning.number);
    case 'screen':
      return enter(desk, { root: meaning.root, places: [] }, meaning.rest);
    case 'tab':
      return showLook(desk, { tab: meaning.tab, scroll: 0, filter: '', selected: null });
    case 'act':
      return actOn(desk, { verb: meaning.verb }, meaning.rest);
    case 'verb':
      return actOn(desk, { name: meaning.name }, meaning.rest);
    case 'command':
      return words[meaning.command]?.(desk, meaning.rest);
    case 'unknown':
      desk.output.line(`Unknown command: ${meaning.word.slice(0, 60)}. Type help for a list.`);
  }
};

const pause = ({ announcer, output }: Linear): void =>
  output.line(
    announcer.pause() ? 'Live output paused. Press enter to resume.' : 'Live output resumed.',
  );

const openNumber = async (desk: Linear, number: number): Promise<void> => {
  if (!desk.announcement.isMenu) return chooseLine(desk, String(number));
  const root = roots[number - 1] ?? (number === 0 ? digitRoots.at(-1) : undefined);
  if (root) await enter(desk, { root, places: [] }, '');
  else desk.output.line(`There are ${roots.length} screens.`);
};

const run = ({ known }: Linear, actions: readonly StateAction[]): void => {
  for (const action of actions) known.store.dispatch(action);
};

/** Goes to a screen without a filter, and opens the row named after it. */
const enter = async (desk: Linear, target: JumpTarget, rest: string): Promise<void> => {
  run(desk, [{ type: 'ui.went', ...target }]);
  await showLook(desk, { selected: null, filter: '' });
  if (rest !== '') await chooseLine(desk, rest);
};

const showLook = async (desk: Linear, change: Partial<ScreenView>): Promise<void> => {
  run(desk, [{ type: 'ui.looked', change }]);
  await announcePage(desk);
};

type LinearHandler = (desk: Linear, rest: string) => void | Promise<void>;

/** Makes a command of a key of the full-screen desk that changes the view. */
const like =
  (verb: Move): LinearHandler =>
  (desk) => {
    run(desk, showActions(desk.known.store.get(), verb) ?? []);
    return announcePage(desk);
  };

const openChosen: LinearHandler = async (desk, rest) => {
  if (rest !== '') return chooseLine(desk, rest);
  const state = desk.known.store.get();
  const page = screenPage(state);
  if (topView(state.ui).selected === null && filteredItems(page, state).length > 0) {
    desk.output.line('Which row? Type its number or its name.');
  } else await goTo(desk, page.opens?.(state) ?? null);
};

/** Clears the filter, then closes the page; on a screen, goes to the menu. */
const back: LinearHandler = async (desk) => {
  const actions = backActions(desk.known.store.get());
  if (actions.length === 0 || desk.announcement.isMenu) return announceMenu(desk);
  run(desk, actions);
  await showLook(desk, { selected: null });
};

const browse: LinearHandler = async (desk, of) => {
  const { root } = desk.known.store.get().ui;
  if (isBrowsedResource(of)) await goTo(desk, { root, places: [{ page: 'browse', id: null, of }] });
  else desk.output.line(`browse needs one of: ${browsedResources.join(', ')}.`);
};

const chooseNews: LinearHandler = ({ announcer, output }, rest) => {
  if (rest === 'on' || rest === 'off') announcer.tellAll(rest === 'on');
  if (rest === 'on') output.line('All events are announced.');
  else
    output.line(
      rest === 'off' ? 'Only events that need you are announced.' : 'Type tell on or tell off.',
    );
};

const followPage: LinearHandler = ({ announcer, output }) => {
  const isFollowed = announcer.follow();
  if (isFollowed === null) output.line('This page has no live output. Open an agent or the logs.');
  else
    output.line(isFollowed ? 'Following. Press enter to pause or resume.' : 'No longer following.');
};

const announceId: LinearHandler = ({ known, output }) => {
  const state = known.store.get();
  const page = screenPage(state);
  const { selected, id } = topView(state.ui);
  const chosen = selected === null ? id : selectedItem(page, state)?.id;
  output.line(page.copies?.(state) || (chosen ?? 'No row is selected.'));
};

const words: Partial<Record<LinearCommand, LinearHandler>> = {
  menu: announceMenu,
  where: announcePosition,
  list: announcePage,
  next: announceNext,
  before: announcePrevious,
  open: openChosen,
  back,
  return: like('return'),
  related: (desk) => {
    const state = desk.known.store.get();
    return goTo(desk, screenPage(state).related?.(state) ?? null);
  },
  palette: browse,
  orgs: (desk, rest) => enter(desk, orgsTarget, rest),
  filter: (desk, filter) => showLook(desk, { filter, selected: null, scroll: 0 }),
  'tab-next': like('tab-next'),
  'tab-before': like('tab-before'),
  raw: like('raw'),
  more: like('more'),
  less: like('less'),
  reload: async (desk) => {
    await desk.known.feed.reloadShown();
    await announcePage(desk);
  },
  tell: chooseNews,
  follow: followPage,
  login: logInAgain,
  copy: announceId,
  'copy-line': ({ known, output }) => output.line(selectedLine(known.store.get())),
  help: ({ known, output }) => output.lines(helpLines(screenPage(known.store.get()))),
};
