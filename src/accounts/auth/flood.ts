import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import { networkOf, type Rate } from '../../kernel/rate.js';
import type { Outbox } from '../../outbound/outbox.js';
import type { Origin } from './newdevice.js';
import type { AuthStore, FailureKey } from './queries.js';
import { backoffSeconds } from './rules.js';

const HOUR_MS = 3600 * 1000;
const ACCOUNT_DELAY_MS = 2000;
const ACCOUNT_FAILURES_BEFORE_DELAY = 10;
/** Ours: so many of an account within an hour are a burst, which is told once a day. */
const BURST = 10;

export interface FloodDeps {
  users: Pick<AuthStore, 'failures' | 'failuresOfAccount' | 'addFailure'>;
  clock: Clock;
  outbox: Pick<Outbox, 'send'>;
  /** Tries of an account from an address, right or wrong. */
  tries: Rate;
  wait(ms: number): Promise<void>;
}

/**
 * By what failures are counted beside the account: the network, or behind a shared address, which
 * tells nobody from another, the device that is known. What is left counts in the burst alone.
 */
export const sourceOf = ({ address, isShared }: Origin, device: string | null): string => {
  if (!isShared) return networkOf(address);
  return device === null ? SHARED : deviceSource(device);
};
const SHARED = 'shared';
const deviceSource = (device: string): string => `device ${device}`;

/** Whose turn it is where many passwords wait to be checked. */
export const askerOf = ({ account, address }: FailureKey, device: string | null): string => {
  if (device !== null) return deviceSource(device);
  return address === SHARED ? `${SHARED} ${account}` : address;
};

/** Of who is logged in behind a shared address: strangers there do not count against him. */
export const insideOf = (by: Origin): string => (by.isShared ? 'logged in' : sourceOf(by, null));

/** Back-off is per account and source; the account alone costs a delay, never a refusal. */
export const refuseFlood = async (deps: FloodDeps, key: FailureKey): Promise<void> => {
  if (key.address === SHARED) return;
  // What comes all at once is not counted as failed yet.
  const tries = deps.tries.take(triesOf(key));
  if (tries?.isSpent) throw tooManyLogins(tries.resetSeconds);
  const failed = await deps.users.failures(key);
  const now = deps.clock.now();
  if (failed) {
    const waitMs = Date.parse(failed.last_at) + backoffSeconds(failed.count) * 1000 - now;
    if (waitMs > 0) throw tooManyLogins(Math.ceil(waitMs / 1000));
  }
  if (key.address.startsWith(deviceSource(''))) return;
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  if (all >= ACCOUNT_FAILURES_BEFORE_DELAY) await deps.wait(ACCOUNT_DELAY_MS);
};

/** Whoever is logged in and gave the right password has not tried to log in. */
export const forgiveTry = ({ tries }: Pick<FloodDeps, 'tries'>, key: FailureKey): void =>
  tries.giveBack(triesOf(key));

const triesOf = ({ address, account }: FailureKey): string => `${address} ${account}`;

/** Counts it, and tells the user of a burst. `userId` is null where nobody has that name. */
export const addFailure = async (
  deps: FloodDeps,
  key: FailureKey,
  userId: string | null,
): Promise<void> => {
  const now = deps.clock.now();
  await deps.users.addFailure(key, iso(now));
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  // Beyond that it has been told already.
  if (userId === null || all < BURST || all >= 2 * BURST) return;
  await deps.outbox.send(userId, {
    kind: 'login.failures',
    title: `${BURST} wrong logins to your account within an hour`,
    body:
      'They were refused. Somebody may be guessing your password: a second factor keeps them out ' +
      'even then: adjutant auth totp setup',
    link: '/api/auth/sessions',
    effectId: `login.failures ${userId} ${iso(now).slice(0, 10)}`,
  });
};

export const tooManyLogins = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many wrong logins. Try again in ${retryAfter} s`, {
    code: 'too_many_logins',
    retryAfter,
  });
