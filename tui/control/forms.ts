import { shownMatches } from '../frame/sheets.js';
import { fieldVerbOf, secretVerbOf, sheetVerbOf, writtenBy } from '../keys.js';
import { edited, openField, typed } from '../parts/field.js';
import type { Act, ShownSecret } from '../state/act.js';
import type { Match } from '../state/palette.js';
import { type FormField, isLoginField, lookOf } from '../state/ui.js';
import { performVerb, refusalNow } from '../state/verbs.js';
import type { Controller } from './controller.js';
import { acceptLogin } from './login.js';
import { goActions } from './moves.js';

/** Asks first where it must be asked for, else does it; refuses with a sentence. */
export const beginForm = (hands: Controller, act: Act): void => {
  const { store, now } = hands;
  const text = refusalNow(store.get(), act);
  if (text !== null) store.dispatch({ type: 'ui.said', message: { text, tone: 'warn' } });
  else if (!act.ask) void performVerb(hands, act);
  else {
    store.dispatch({ type: 'ui.sheet', sheet: { act, openedAt: now() } });
    const draft = store.get().ui.drafts[act.row.id] ?? '';
    if (act.ask.name !== undefined) store.dispatch({ type: 'ui.field', field: openField('name') });
    if (act.ask.writes) store.dispatch({ type: 'ui.field', field: openField('text', draft) });
  }
};

/** A command of the CLI in this terminal, and what it may have changed read again. */
export const leaveFor = async (
  { outside, feed }: Controller,
  words: readonly string[],
): Promise<void> => {
  await outside.leave(words);
  await feed.reloadShown();
};

/** While a question stands: `y` alone does it, and not before it could be read. */
export const answerSheet = (hands: Controller, key: string, isBurst: boolean): void => {
  const { store, now } = hands;
  const { sheet } = store.get().ui;
  const verb = sheetVerbOf(key);
  if (!sheet || !verb || isBurst) return;
  const isRipe = now() - sheet.openedAt >= (sheet.act.ask?.deadMs ?? 0);
  if (verb === 'no') close(hands, 'Nothing was done');
  else if (isRipe) confirm(hands, sheet.act);
};

/** What has changed since it was asked is not done. */
const confirm = (hands: Controller, act: Act): void => {
  const refusal = refusalNow(hands.store.get(), act);
  close(hands, refusal);
  if (refusal === null) void performVerb(hands, act);
};

const close = ({ store }: Controller, text: string | null): void => {
  store.dispatch({ type: 'ui.sheet', sheet: null });
  const message = text === null ? null : { text, tone: 'info' as const };
  store.dispatch({ type: 'ui.said', message });
};

/** While a value is shown once: it is copied, and it goes only when it is said to be kept. */
export const answerSecret = (
  { store, outside }: Controller,
  { value }: ShownSecret,
  key: string,
  isBurst: boolean,
): void => {
  if (isBurst) return;
  const verb = secretVerbOf(key);
  if (verb === 'kept') store.dispatch({ type: 'ui.secret', secret: null });
  if (verb !== 'copy-value') return;
  outside.copy(value);
  const message = {
    text: 'Copied (nothing there? select it with the mouse)',
    tone: 'info' as const,
  };
  store.dispatch({ type: 'ui.said', message });
};

/** While a line is typed into. */
export const answerField = (hands: Controller, field: FormField, key: string): void => {
  const { store } = hands;
  const put = (next: FormField | null): void => {
    if (store.get().ui.message) store.dispatch({ type: 'ui.said', message: null });
    store.dispatch({ type: 'ui.field', field: next });
    if (field.for === 'filter') filterBy(hands, next?.text ?? '');
  };
  const verb = fieldVerbOf(key);
  if (verb === undefined) {
    const text = writtenBy(key);
    if (text !== null) put(typed(field, text));
  } else if (verb === 'leave' || (verb === 'clear' && field.text === '')) leave(hands, field, put);
  else if (verb === 'accept') accept(hands, field);
  else if (verb === 'write') void writeText(hands, field);
  else put(edited(field, verb));
};

export const pasteInto = ({ store }: Controller, text: string): void => {
  const { field } = store.get().ui;
  if (field) {
    const next = typed(field, text);
    store.dispatch({ type: 'ui.field', field: next });
    if (field.for === 'filter')
      store.dispatch({ type: 'ui.looked', change: { filter: next.text } });
    return;
  }
  const message = { text: 'A paste goes into a text field only', tone: 'warn' as const };
  store.dispatch({ type: 'ui.said', message });
};

const filterBy = ({ store }: Controller, filter: string): void => {
  if (lookOf(store.get().ui).filter === filter) return;
  store.dispatch({ type: 'ui.looked', change: { filter, scroll: 0 } });
};

const leave = (hands: Controller, field: FormField, put: (next: null) => void): void => {
  hands.store.dispatch({ type: 'ui.password', password: null });
  if (field.for === 'name') close(hands, 'Nothing was done');
  else if (field.for === 'text') keepDraft(hands, field.text);
  else put(null);
};

/** Kept until it is sent: the next time it stands there again. */
const keepDraft = (hands: Controller, text: string): void => {
  const { sheet } = hands.store.get().ui;
  if (sheet) hands.store.dispatch({ type: 'ui.draft', of: sheet.act.row.id, text });
  close(hands, text === '' ? null : 'Kept as a draft');
};

/** The draft in the person's own editor; the field takes what comes back. */
const writeText = async ({ store, outside }: Controller, field: FormField): Promise<void> => {
  if (field.for !== 'text') return;
  const written = await outside.write(field.text);
  if (written.is === 'written') {
    const text = written.text.replace(/\n$/, '');
    store.dispatch({ type: 'ui.field', field: typed(openField('text'), text) });
  } else {
    const message = { text: written.reason, tone: 'warn' as const };
    store.dispatch({ type: 'ui.said', message });
  }
};

const acceptText = (hands: Controller, text: string): void => {
  const { sheet } = hands.store.get().ui;
  keepDraft(hands, text);
  if (!sheet || text.trim() === '') return;
  const refusal = refusalNow(hands.store.get(), sheet.act);
  if (refusal === null) void performVerb(hands, sheet.act, text);
  else hands.store.dispatch({ type: 'ui.said', message: { text: refusal, tone: 'warn' } });
};

const accept = (hands: Controller, field: FormField): void => {
  const { store } = hands;
  if (field.for === 'name') {
    acceptName(hands, field.text);
    return;
  }
  if (isLoginField(field)) {
    void acceptLogin(hands, field);
    return;
  }
  if (field.for === 'text') {
    acceptText(hands, field.text);
    return;
  }
  const match = field.for === 'palette' ? chosenMatch(hands, field) : undefined;
  // What came in one piece was not read before it was taken: it may quit, and do nothing else.
  if (field.isHurried && match && !('quits' in match.does)) {
    store.dispatch({ type: 'ui.field', field: { ...field, isHurried: false } });
    return;
  }
  store.dispatch({ type: 'ui.field', field: null });
  if (match) take(hands, match);
};

const chosenMatch = ({ store }: Controller, { chosen }: FormField): Match | undefined => {
  const matches = shownMatches(store.get());
  return matches[Math.min(chosen, matches.length - 1)];
};

const acceptName = (hands: Controller, text: string): void => {
  const { sheet } = hands.store.get().ui;
  const name = sheet?.act.ask?.name;
  if (sheet && text === name) confirm(hands, sheet.act);
  else
    hands.store.dispatch({
      type: 'ui.said',
      message: { text: `That is not ${name}`, tone: 'warn' },
    });
};

const take = (hands: Controller, { does }: Match): void => {
  if ('quits' in does) hands.outside.quit();
  else if ('act' in does) beginForm(hands, does.act);
  else if ('leave' in does) void leaveFor(hands, does.leave);
  else for (const action of goActions(does.goal)) hands.store.dispatch(action);
};
