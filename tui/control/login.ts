import { openField } from '../parts/field.js';
import type { LoginOutcome } from '../state/login.js';
import { getLoginName } from '../state/session.js';
import { type FormField, messageAction } from '../state/ui.js';
import type { Controller } from './controller.js';

/**
 * Opens the password field, or the username field if no name is known. Returns false and opens
 * nothing unless the daemon refused for lack of a valid login session.
 */
export const askLogin = ({ store }: Controller): boolean => {
  const { session } = store.get();
  const { link } = session;
  if (link.is !== 'refused' || !link.isEnded) return false;
  const use = getLoginName(session) === null ? 'username' : 'password';
  store.dispatch({ type: 'ui.field', field: openField(use) });
  return true;
};

/**
 * Asks for the login at the start if the login session has ended. After the connection has been
 * live, only a key asks, because the user may be typing something else. Returns a function that
 * stops it.
 */
export const askAtStart = (controller: Controller): (() => void) => {
  const { store } = controller;
  let isOver = false;
  const look = (): void => {
    const { session, ui } = store.get();
    if (isOver || session.link.is === 'connecting') return;
    if (session.link.is === 'lost') return;
    isOver = true;
    if (getLoginName(session) !== null && !ui.field && !ui.sheet) askLogin(controller);
  };
  look();
  return store.subscribe(({ session }) => session.link, look);
};

/** Accepts the username, the password, or the authenticator code. */
export const acceptLogin = async (
  controller: Controller,
  { for: use, text }: FormField,
): Promise<void> => {
  const { store } = controller;
  const { ui, session } = store.get();
  const password = use === 'password' ? text : (ui.password ?? '');
  store.dispatch({ type: 'ui.field', field: null });
  store.dispatch({ type: 'ui.password', password: null });
  if (text === '') return;
  if (use === 'username') {
    store.dispatch({ type: 'session.known', loginName: text });
    askLogin(controller);
    return;
  }
  const username = getLoginName(session) ?? '';
  const totpCode = use === 'code' ? text : undefined;
  const outcome = await controller.logIn({ username, password, totpCode });
  // The daemon does not say whether the name or the password was wrong, so ask for the name again.
  if (outcome.is === 'refused')
    store.dispatch({ type: 'session.known', loginName: controller.keptName });
  show(controller, password, outcome);
};

const show = ({ store }: Controller, password: string, outcome: LoginOutcome): void => {
  if (outcome.is === 'code') {
    store.dispatch({ type: 'ui.password', password });
    store.dispatch({ type: 'ui.field', field: openField('code') });
    return;
  }
  if (outcome.is === 'refused') {
    store.dispatch(messageAction(`${outcome.reason}   enter retries`, 'danger'));
    return;
  }
  store.dispatch({ type: 'session.known', who: outcome.who });
  store.dispatch(messageAction('Logged in', 'ok'));
};
