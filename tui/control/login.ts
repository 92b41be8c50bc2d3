import { openField } from '../parts/field.js';
import type { LoginOutcome } from '../state/login.js';
import type { Field } from '../state/ui.js';
import type { Hands } from './hands.js';

/** Asks for the password once the session has ended; what was typed elsewhere is a draft by then. */
export const askPassword = ({ store }: Hands): boolean => {
  const { link, who } = store.get().session;
  if (link.is !== 'refused' || !link.isEnded || !who) return false;
  store.dispatch({ type: 'ui.field', field: openField('password') });
  return true;
};

/** The password, or the code after it. */
export const acceptLogin = async (hands: Hands, { for: use, text }: Field): Promise<void> => {
  const { store } = hands;
  const { ui, session } = store.get();
  const password = use === 'password' ? text : (ui.password ?? '');
  store.dispatch({ type: 'ui.field', field: null });
  store.dispatch({ type: 'ui.password', password: null });
  if (text === '' || !session.who) return;
  const { username } = session.who;
  const totpCode = use === 'code' ? text : undefined;
  show(hands, password, await hands.logIn({ username, password, totpCode }));
};

const show = ({ store }: Hands, password: string, outcome: LoginOutcome): void => {
  if (outcome.is === 'code') {
    store.dispatch({ type: 'ui.password', password });
    store.dispatch({ type: 'ui.field', field: openField('code') });
    return;
  }
  const message =
    outcome.is === 'in'
      ? { text: 'Logged in again', tone: 'ok' as const }
      : { text: `${outcome.reason}   enter tries again`, tone: 'danger' as const };
  store.dispatch({ type: 'ui.said', message });
};
