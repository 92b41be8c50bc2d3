import { shownMatches } from '../frame/sheets.js';
import { fieldVerbForKey, secretVerbForKey, sheetVerbForKey, typedCharacter } from '../keys.js';
import { applyEditKey, insertText, openField } from '../parts/field.js';
import { screenPage } from '../screens.js';
import type { Act, ShownSecret } from '../state/act.js';
import type { Match } from '../state/palette.js';
import { type FormField, isLoginField, messageAction, topView } from '../state/ui.js';
import { actRefusal, performVerb } from '../state/verbs.js';
import type { Controller } from './controller.js';
import { acceptLogin } from './login.js';
import { goAction, moveActions } from './moves.js';

/**
 * Starts an action: opens its question, or performs it. If the action is not possible now, shows
 * the reason.
 */
export const beginForm = (controller: Controller, act: Act): void => {
  const { store, clock } = controller;
  const text = actRefusal(store.get(), act);
  if (text !== null) store.dispatch(messageAction(text, 'warn'));
  else if (!act.ask) void perform(controller, act);
  else {
    store.dispatch({ type: 'ui.sheet', sheet: { act, openedAt: clock.now() } });
    const draft = store.get().ui.drafts[act.row.id] ?? '';
    if (act.ask.name !== undefined) store.dispatch({ type: 'ui.field', field: openField('name') });
    if (act.ask.writes) store.dispatch({ type: 'ui.field', field: openField('text', draft) });
  }
};

const perform = async (controller: Controller, act: Act, typed?: string): Promise<void> => {
  const words = await performVerb(controller, act, typed);
  if (!words) return;
  controller.store.dispatch({ type: 'ui.said', message: null });
  await runCliCommand(controller, words);
};

/**
 * Runs a CLI command in this terminal, then reloads the shown data, which the command may have
 * changed.
 */
export const runCliCommand = async (
  { outside, feed }: Controller,
  words: readonly string[],
): Promise<void> => {
  await outside.leave(words);
  await feed.reloadShown();
};

/** Only `y` confirms, and only after the question has been open long enough to be read. */
export const answerSheet = (controller: Controller, key: string, isBurst: boolean): void => {
  const { store, clock } = controller;
  const { sheet } = store.get().ui;
  const verb = sheetVerbForKey(key);
  if (!sheet || !verb || isBurst) return;
  const isRipe = clock.now() - sheet.openedAt >= (sheet.act.ask?.deadMs ?? 0);
  if (verb === 'no') close(controller, 'Nothing was done');
  else if (isRipe) confirm(controller, sheet.act);
};

/** Does nothing if the row has changed since the question was asked. */
const confirm = (controller: Controller, act: Act): void => {
  const refusal = actRefusal(controller.store.get(), act);
  close(controller, refusal);
  if (refusal === null) void perform(controller, act);
};

const close = ({ store }: Controller, text: string | null): void => {
  store.dispatch({ type: 'ui.sheet', sheet: null });
  store.dispatch(text === null ? { type: 'ui.said', message: null } : messageAction(text));
};

/** The secret is shown only once. It stays until the user confirms that they saved it. */
export const answerSecret = (
  { store, outside }: Controller,
  { value }: ShownSecret,
  key: string,
  isBurst: boolean,
): void => {
  if (isBurst) return;
  const verb = secretVerbForKey(key);
  if (verb === 'kept') store.dispatch({ type: 'ui.secret', secret: null });
  if (verb !== 'copy-value') return;
  outside.copy(value);
  store.dispatch(messageAction('Copied (clipboard empty? Select it with the mouse)'));
};

export const answerField = (controller: Controller, field: FormField, key: string): void => {
  const { store } = controller;
  const put = (next: FormField | null): void => {
    if (store.get().ui.message) store.dispatch({ type: 'ui.said', message: null });
    store.dispatch({ type: 'ui.field', field: next });
    if (field.for === 'filter') filterBy(controller, next?.text ?? '');
  };
  const verb = fieldVerbForKey(key);
  if (verb === undefined) {
    const text = typedCharacter(key);
    if (text !== null) put(insertText(field, text));
  } else if (verb === 'leave' || (verb === 'clear-or-leave' && field.text === ''))
    leave(controller, field, put);
  else if (verb === 'accept') accept(controller, field);
  else if (verb === 'write') void writeText(controller, field);
  else if (field.for === 'filter' && verb === 'choose-down') choose(controller, 'down');
  else if (field.for === 'filter' && verb === 'choose-up') choose(controller, 'up');
  else put(applyEditKey(field, verb));
};

const choose = ({ store }: Controller, verb: 'down' | 'up'): void => {
  for (const action of moveActions(store.get(), verb)) store.dispatch(action);
};

export const pasteInto = ({ store }: Controller, text: string): void => {
  const { field } = store.get().ui;
  if (field) {
    const next = insertText(field, text);
    store.dispatch({ type: 'ui.field', field: next });
    if (field.for === 'filter')
      store.dispatch({ type: 'ui.looked', change: { filter: next.text } });
    return;
  }
  store.dispatch(messageAction('You can paste only into a text field', 'warn'));
};

const filterBy = ({ store }: Controller, filter: string): void => {
  const state = store.get();
  if (topView(state.ui).filter === filter) return;
  // The results change, and the first one is the best.
  const isSearched = screenPage(state).isSearched?.(state) === true;
  const change = { filter, scroll: 0, ...(isSearched && { selected: null }) };
  store.dispatch({ type: 'ui.looked', change });
};

const leave = (controller: Controller, field: FormField, put: (next: null) => void): void => {
  controller.store.dispatch({ type: 'ui.password', password: null });
  if (field.for === 'name') close(controller, 'Nothing was done');
  else if (field.for === 'text') keepDraft(controller, field.text);
  else put(null);
};

/** Keeps the text until it is sent. The field opens with it the next time. */
const keepDraft = (controller: Controller, text: string): void => {
  const { sheet } = controller.store.get().ui;
  if (sheet) controller.store.dispatch({ type: 'ui.draft', of: sheet.act.row.id, text });
  close(controller, text === '' ? null : 'Draft kept until you quit the desk');
};

/** Opens the draft in the user's editor and takes over the result. */
const writeText = async ({ store, outside }: Controller, field: FormField): Promise<void> => {
  if (field.for !== 'text') return;
  const written = await outside.write(field.text);
  if (written.is === 'written') {
    const text = written.text.replace(/\n$/, '');
    store.dispatch({ type: 'ui.field', field: insertText(openField('text'), text) });
  } else store.dispatch(messageAction(written.reason, 'warn'));
};

const acceptText = (controller: Controller, text: string): void => {
  const { sheet } = controller.store.get().ui;
  keepDraft(controller, text);
  if (!sheet || text.trim() === '') return;
  const refusal = actRefusal(controller.store.get(), sheet.act);
  if (refusal === null) void perform(controller, sheet.act, text);
  else controller.store.dispatch(messageAction(refusal, 'warn'));
};

const accept = (controller: Controller, field: FormField): void => {
  if (field.for === 'name') acceptName(controller, field.text);
  else if (isLoginField(field)) void acceptLogin(controller, field);
  else if (field.for === 'text') acceptText(controller, field.text);
  else acceptMatch(controller, field);
};

const acceptMatch = (controller: Controller, field: FormField): void => {
  const { store } = controller;
  const match = field.for === 'palette' ? chosenMatch(controller, field) : undefined;
  // The keys came in one burst, so the user could not read the match. Such a burst may only quit
  // the desk.
  if (field.isHurried && match && !('quits' in match.does)) {
    store.dispatch({ type: 'ui.field', field: { ...field, isHurried: false } });
    return;
  }
  store.dispatch({ type: 'ui.field', field: null });
  if (match) take(controller, match);
};

const chosenMatch = ({ store }: Controller, { chosen }: FormField): Match | undefined => {
  const matches = shownMatches(store.get());
  return matches[Math.min(chosen, matches.length - 1)];
};

const acceptName = (controller: Controller, text: string): void => {
  const { sheet } = controller.store.get().ui;
  const name = sheet?.act.ask?.name;
  if (sheet && text === name) confirm(controller, sheet.act);
  else controller.store.dispatch(messageAction(`The name does not match ${name}`, 'warn'));
};

const take = (controller: Controller, { does }: Match): void => {
  if ('quits' in does) controller.outside.quit();
  else if ('act' in does) beginForm(controller, does.act);
  else if ('leave' in does) void runCliCommand(controller, does.leave);
  else controller.store.dispatch(goAction(does.goal));
};
