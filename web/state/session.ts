import type { User } from '../../src/kernel/contract/login.js';
import { ask, RequestError, showUser, whenLoginEnds } from './api.js';
import { dropDrafts } from './drafts.js';
import { startLive, stopLive } from './live.js';
import { dropLoginKey, onLoginKeyDropped } from './loginkey.js';
import { turnPushOffHere } from './push.js';
import { go } from './route.js';
import { createObservable } from './store.js';

/** The logged-in user. `unknown` until the daemon has replied. */
export const session = createObservable<User | null | 'unknown'>('unknown');
/** End of the last login in this tab: by the user's own logout, or the reason. */
export type LoginEnd = { isOwn: true } | { isOwn: false; reason: string };
export const lastLoginEnd = createObservable<LoginEnd | null>(null);
/** During a logout the end of the login is expected. */
let isLeaving = false;

export const readMe = async (): Promise<void> => {
  try {
    startUserSession(await ask('GET', '/api/auth/me'));
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
    session.set(null);
  }
};

/** Shows the user whose login has just started. */
export const startUserSession = (me: User): void => {
  lastLoginEnd.set(null);
  showUser(me.id);
  session.set(me);
  startLive(() => end('Your login session has ended'));
};

/** Ends the login and removes its data from the page. */
const end = (reason: string): void => {
  if (session.get() === null) return;
  stopLive();
  showUser(null);
  lastLoginEnd.set(isLeaving ? { isOwn: true } : { isOwn: false, reason });
  session.set(null);
};

whenLoginEnds(end);
onLoginKeyDropped(dropDrafts);

/** Also turns off push notifications of this device. */
export const logOut = async (): Promise<void> => {
  await turnPushOffHere();
  isLeaving = true;
  try {
    await ask('POST', '/api/auth/logout');
    dropLoginKey();
    dropDrafts();
    end('');
    go('/', 'replace');
  } finally {
    isLeaving = false;
  }
};
