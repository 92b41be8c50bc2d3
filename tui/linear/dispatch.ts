import { selectedLine } from '../control/moves.js';
import { screenPage } from '../screens.js';
import { roots } from '../state/places.js';
import { chosenOf } from '../state/selection.js';
import { lookOf } from '../state/ui.js';
import { helpLines, type LinearCommand, type Meaning, meaningOf } from './commands.js';
import type { Linear } from './linear.js';
import { logInAgain } from './login.js';
import { enter, move, showLook } from './navigate.js';
import { announceMenu, announceNext, announcePosition, announcePrevious } from './readout.js';
import { actOn, chooseLine, verbNames } from './select.js';

/** Executes a typed line. Returns false if the user leaves the desk. */
export const obeyLine = async (desk: Linear, typed: string): Promise<boolean> => {
  const { known, outside } = desk;
  known.store.dispatch({ type: 'session.ticked', now: outside.now() });
  known.store.dispatch({ type: 'ui.said', message: null });
  const state = known.store.get();
  const meaning = meaningOf(typed, screenPage(state), verbNames(state));
  if (meaning.is === 'command' && meaning.command === 'quit') return false;
  await follow(desk, meaning);
  return true;
};

const follow = async (desk: Linear, meaning: Meaning): Promise<void> => {
  switch (meaning.is) {
    case 'nothing':
      return pause(desk);
    case 'number':
      return openNumber(desk, meaning.number);
    case 'screen':
      return enter(desk, meaning.root, meaning.rest);
    case 'tab':
      return showLook(desk, { tab: meaning.tab, scroll: 0, filter: '', selected: null });
    case 'act':
      return actOn(desk, { verb: meaning.verb }, meaning.rest);
    case 'verb':
      return actOn(desk, { name: meaning.name }, meaning.rest);
    case 'command':
      return (words[meaning.command] ?? move(meaning.command))(desk, meaning.rest);
    case 'unknown':
      desk.output.line(`No such word here: ${meaning.word.slice(0, 60)}. help says what there is.`);
  }
};

const pause = ({ telling, output }: Linear): void =>
  output.line(telling.pause() ? 'What runs by stands still. Enter goes on.' : 'It goes on.');

const openNumber = async (desk: Linear, number: number): Promise<void> => {
  if (!desk.told.isMenu) return chooseLine(desk, String(number));
  const root = roots[number - 1] ?? (number === 0 ? roots.at(-1) : undefined);
  if (root) await enter(desk, root, '');
  else desk.output.line(`There are ${roots.length} screens.`);
};

type Word = (desk: Linear, rest: string) => void | Promise<void>;

const tellWish: Word = ({ telling, output }, rest) => {
  if (rest === 'on' || rest === 'off') telling.tellAll(rest === 'on');
  if (rest === 'on') output.line('Everything that happens is told.');
  else output.line(rest === 'off' ? 'Only what needs you is told.' : 'tell on, or tell off.');
};

const followPage: Word = ({ telling, output }) => {
  const isFollowed = telling.follow();
  if (isFollowed === null)
    output.line('Nothing comes here: an agent and the logs can be followed.');
  else output.line(isFollowed ? 'Following. Enter alone stops it, and goes on.' : 'Not followed.');
};

const tellId: Word = ({ known, output }) => {
  const state = known.store.get();
  const page = screenPage(state);
  const { selected, id } = lookOf(state.ui);
  const chosen = selected === null ? id : chosenOf(page, state)?.id;
  output.line(page.copies?.(state) || (chosen ?? 'Nothing is chosen.'));
};

/** Words that only announce something; all others lead somewhere. */
const words: Partial<Record<LinearCommand, Word>> = {
  menu: announceMenu,
  where: announcePosition,
  next: announceNext,
  before: announcePrevious,
  tell: tellWish,
  follow: followPage,
  login: logInAgain,
  copy: tellId,
  'copy-line': ({ known, output }) => output.line(selectedLine(known.store.get())),
  help: ({ known, output }) => output.lines(helpLines(screenPage(known.store.get()))),
};
