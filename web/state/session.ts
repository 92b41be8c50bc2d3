import type { User } from '../../src/accounts/auth/contract.js';
import { ask, RequestError, showUser, whenLoginEnds } from './api.js';
import { dropDrafts } from './drafts.js';
import { startLive, stopLive } from './live.js';
import { dropLoginKey, onLoginKeyDropped } from './loginkey.js';
import { turnPushOffHere } from './push.js';
import { go } from './route.js';
import { createObservable } from './store.js';

/** The user who is logged in. `unknown` until the daemon has said it. */
export const session = createObservable<User | null | 'unknown'>('unknown');
/** The end of the last login in this tab, for the login view: by the user's own logout, or why else. */
export type LoginEnd = { isOwn: true } | { isOwn: false; reason: string };
export const lastEnd = createObservable<LoginEnd | null>(null);
/** The logout is on its way: that this login no longer counts is no surprise then. */
let isLeaving = false;

/** Reads who is logged in, by the cookie that came with the page. */
export const readMe = async (): Promise<void> => {
  try {
    begin(await ask('GET', '/api/auth/me'));
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401) throw error;
    session.set(null);
  }
};

/** Shows that user, whose login the daemon has just begun. */
export const begin = (me: User): void => {
  lastEnd.set(null);
  showUser(me.id);
  session.set(me);
  startLive(() => end('Your login session has ended'));
};

/** Leaves the login: nothing of it stays in the page. */
const end = (reason: string): void => {
  if (session.get() === null) return;
  stopLive();
  showUser(null);
  lastEnd.set(isLeaving ? { isOwn: true } : { isOwn: false, reason });
  session.set(null);
};

whenLoginEnds(end);
onLoginKeyDropped(dropDrafts);

/** Logs out on this device, which gets no more pushes then. */
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
