import type { InputEvent } from '../input.js';
import { actForKey, isMove, type Move, moveForKey, pageActKeys } from '../keys.js';
import { openField } from '../parts/field.js';
import { plainRowText } from '../parts/row.js';
import { screenPage } from '../screens.js';
import { computeBodySize, isTooSmall } from '../state/layout.js';
import { continuedList, selectedItem } from '../state/selection.js';
import type { StateAction } from '../state/state.js';
import { getScreenStack, messageAction, topView } from '../state/ui.js';
import { offlineReason } from '../state/verbs.js';
import type { Controller } from './controller.js';
import {
  answerField,
  answerSecret,
  answerSheet,
  beginForm,
  pasteInto,
  runCliCommand,
} from './forms.js';
import { askLogin } from './login.js';
import {
  goAction,
  helpAction,
  isAtBottom,
  letterActions,
  moveActions,
  openActions,
  prefixActions,
  screenActions,
  selectedLine,
  showActions,
} from './moves.js';

export const dispatchKey = (controller: Controller, event: InputEvent): void => {
  if (event.type === 'paste') pasteInto(controller, event.text);
  if (event.type !== 'key') return;
  const { key, isBurst } = event;
  const { ui } = controller.store.get();
  if (handleGlobalKey(controller, key)) return;
  if (ui.secret) answerSecret(controller, ui.secret, key, isBurst);
  else if (ui.field) answerField(controller, ui.field, key);
  else if (ui.sheet) answerSheet(controller, key, isBurst);
  else if (ui.isHelp) handleHelpKey(controller, key, isBurst);
  else handlePageKey(controller, key, isBurst);
};

/**
 * Handles keys that mean the same everywhere. Returns true if the key is fully handled, which is
 * always the case in a terminal that is too small.
 */
const handleGlobalKey = ({ store, outside }: Controller, key: string): boolean => {
  const { ui } = store.get();
  const verb = moveForKey(key);
  const isTyping = ui.field !== null && ui.field.text !== '';
  if (verb === 'end' && !isTyping) outside.quit();
  else if (verb === 'redraw') outside.redraw();
  else if (verb === 'suspend') outside.suspend();
  else if (verb === 'quit' && isTooSmall(store.get())) outside.quit();
  else return isTooSmall(store.get());
  return true;
};

const handleHelpKey = (controller: Controller, key: string, isBurst: boolean): void => {
  const verb = moveForKey(key);
  if (verb && isMove(verb)) run(controller, [helpAction(controller.store.get(), verb)]);
  if (isBurst) return;
  if (verb === 'back' || verb === 'help' || verb === 'quit') {
    controller.store.dispatch({ type: 'ui.help', isHelp: false, helpTop: 0 });
  } else if (verb === 'screen') run(controller, screenActions(key));
};

/**
 * Whether a key may act within a burst: it only moves, or opens the filter, which takes the
 * following keys as text.
 */
const isHarmless = (verb: Move): boolean => isMove(verb) || verb === 'filter';

const handlePageKey = (controller: Controller, key: string, isBurst: boolean): void => {
  const verb = moveForKey(key);
  const state = controller.store.get();
  if (isBurst && verb === 'palette') {
    const field = { ...openField('palette'), isHurried: true };
    controller.store.dispatch({ type: 'ui.field', field });
  }
  const letter = letterActions(state, key, controller.clock.now());
  run(controller, [...prefixActions(state, key, controller.clock.now()), ...(letter ?? [])]);
  if (letter) return;
  if (isBurst && !(verb && isHarmless(verb))) return;
  if (verb) move(controller, verb, key);
  else actOn(controller, key);
  const noticed = screenPage(controller.store.get()).noticed?.(controller.store.get());
  if (noticed) controller.store.dispatch(noticed);
};

const run = ({ store }: Controller, actions: StateAction[]): void => {
  for (const action of actions) store.dispatch(action);
};

const showMessage = ({ store }: Controller, text: string): void =>
  store.dispatch(messageAction(text));

/**
 * Performs the action of a letter on this page. If that is not possible, the message line gives the
 * reason.
 */
const actOn = (controller: Controller, key: string): void => {
  const state = controller.store.get();
  const page = screenPage(state);
  const verb = actForKey(page.name, key);
  if (verb === undefined) return;
  const act = page.acts?.(state)[verb];
  const words = page.leaves?.(state)[verb];
  if (act) beginForm(controller, act);
  else if (words) void runCliCommand(controller, words);
  else {
    const effect = pageActKeys(page.name).find((each) => each.verb === verb)?.text ?? verb;
    showMessage(controller, offlineReason(state) ?? `Not possible here now: ${effect}`);
  }
};

const move = (controller: Controller, verb: Move, key: string): void => {
  const { store } = controller;
  const state = store.get();
  if (isMove(verb)) {
    run(controller, moveActions(state, verb));
    const list = continuedList(screenPage(state), store.get());
    if (list && isAtBottom(store.get())) void controller.feed.more(list);
    return;
  }
  if (state.ui.message) store.dispatch({ type: 'ui.said', message: null });
  const actions = verb === 'screen' ? screenActions(key) : showActions(state, verb);
  if (actions) run(controller, actions);
  else performMove(controller, verb);
};

const performMove = (controller: Controller, verb: Move): void => {
  const { store, outside, feed } = controller;
  const state = store.get();
  const page = screenPage(state);
  switch (verb) {
    case 'open':
      if (state.session.link.is === 'lost') controller.tryNow();
      if (askLogin(controller)) break;
      run(controller, openActions(state));
      break;
    case 'related': {
      const to = page.related?.(state);
      if (to) store.dispatch(goAction(to));
      else showMessage(controller, 'There is no related object');
      break;
    }
    case 'copy':
      copy(
        controller,
        page.copies?.(state) ?? selectedItem(page, state)?.id ?? topView(state.ui).id ?? '',
      );
      break;
    case 'copy-line':
      copy(controller, selectedLine(state));
      break;
    case 'print':
      void outside.print(printed(controller));
      break;
    case 'reload':
      showMessage(controller, 'Reloading');
      void feed.reloadShown();
      break;
    case 'quit':
      if (getScreenStack(state.ui).length > 1) store.dispatch({ type: 'ui.closed' });
      else outside.quit();
  }
};

const copy = (controller: Controller, text: string): void => {
  if (text !== '') controller.outside.copy(text);
  const copied = `Copied: ${text}   (clipboard empty? P prints it)`;
  showMessage(controller, text === '' ? 'Nothing to copy here' : copied);
};

/** The whole text of the page, unwrapped. If the page has no text, its rows. */
const printed = ({ store }: Controller): string[] => {
  const state = store.get();
  const page = screenPage(state);
  const size = computeBodySize(state);
  const rows = page.text?.(state, 10_000) ?? page.view(state, { width: size.width, height: 1000 });
  return rows.map((row) => plainRowText(row).trimEnd());
};
