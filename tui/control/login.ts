import { openField } from '../parts/field.js';
import type { LoginOutcome } from '../state/login.js';
import { loginNameOf } from '../state/session.js';
import type { FormField } from '../state/ui.js';
import type { Controller } from './controller.js';

/** Asks for the password, or first for the name, where there is no login that holds. */
export const askLogin = ({ store }: Controller): boolean => {
  const { session } = store.get();
  const { link } = session;
  if (link.is !== 'refused' || !link.isEnded) return false;
  const use = loginNameOf(session) === null ? 'username' : 'password';
  store.dispatch({ type: 'ui.field', field: openField(use) });
  return true;
};

/**
 * Asks without a key where the desk opens with a login that has ended; once it was live, only a key
 * does: what is being typed then is for something else. What comes back stops it.
 */
export const askAtStart = (controller: Controller): (() => void) => {
  const { store } = controller;
  let isOver = false;
  const look = (): void => {
    const { session, ui } = store.get();
    if (isOver || session.link.is === 'connecting') return;
    if (session.link.is === 'lost') return;
    isOver = true;
    if (loginNameOf(session) !== null && !ui.field && !ui.sheet) askLogin(controller);
  };
  look();
  return store.subscribe(({ session }) => session.link, look);
};

/** The name, the password, or the code after it. */
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
  const username = loginNameOf(session) ?? '';
  const totpCode = use === 'code' ? text : undefined;
  const outcome = await controller.logIn({ username, password, totpCode });
  // Nobody knows which of both was wrong: the name is asked for again too.
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
  if (outcome.is === 'in') store.dispatch({ type: 'session.known', who: outcome.who });
  const message =
    outcome.is === 'in'
      ? { text: 'Logged in', tone: 'ok' as const }
      : { text: `${outcome.reason}   enter tries again`, tone: 'danger' as const };
  store.dispatch({ type: 'ui.said', message });
};
