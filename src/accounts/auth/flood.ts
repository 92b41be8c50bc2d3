import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Pace } from '../../kernel/pace.js';
import { pageLink } from '../../kernel/pagepath.js';
import { networkOf, type Rate } from '../../kernel/rate.js';
import type { Outbox } from '../../outbound/module.js';
import type { Origin } from './newdevice.js';
import type { AuthStore, FailureKey } from './queries.js';
import { backoffSeconds } from './rules.js';

const HOUR_MS = 3600 * 1000;
const ACCOUNT_DELAY_MS = 2000;
const ACCOUNT_FAILURES_BEFORE_DELAY = 10;
/**
 * Ours: so many failures of an account within an hour are a burst, which is notified once a day.
 */
const BURST = 10;

export interface FloodDeps {
  users: Pick<AuthStore, 'failures' | 'failuresOfAccount' | 'addFailure'>;
  clock: Clock;
  outbox: Outbox;
  limits: LoginLimits;
}

/** The limits for logins. */
export interface LoginLimits {
  /** Limit for the tries of one account from one address, right or wrong. */
  tries: Rate;
  /** Pace of the logins of one account from a shared address. */
  pace: Pace;
  wait(ms: number): Promise<void>;
}

/**
 * Returns the source by which failures are counted beside the account. This is the network. Behind
 * a shared address, which does not distinguish clients, it is the known device. Any other client
 * there counts in the burst only.
 */
export const sourceOf = ({ address, isShared }: Origin, device: string | null): string => {
  if (!isShared) return networkOf(address);
  return device === null ? SHARED : deviceSource(device);
};
const SHARED = 'shared';
const deviceSource = (device: string): string => `device ${device}`;

/** Returns the key by which passwords that wait to be checked take turns. */
export const askerOf = ({ account, address }: FailureKey, device: string | null): string => {
  if (device !== null) return deviceSource(device);
  return address === SHARED ? `${SHARED} ${account}` : address;
};

/**
 * Returns the source for a caller who is logged in. Behind a shared address, failures of
 * unauthenticated clients do not count against the caller.
 */
export const insideOf = (by: Origin): string => (by.isShared ? 'logged in' : sourceOf(by, null));

/**
 * Refuses a login after too many failures. The back-off is per account and source; the failures of
 * an account from all sources cause a delay, never a refusal.
 */
export const refuseFlood = async (deps: FloodDeps, key: FailureKey): Promise<void> => {
  if (key.address === SHARED) return;
  // Simultaneous tries are not counted as failures yet.
  const tries = deps.limits.tries.take(triesOf(key));
  if (tries?.isSpent) throw tooManyLogins(tries.resetSeconds);
  const failed = await deps.users.failures(key);
  const now = deps.clock.now();
  if (failed) {
    const waitMs = Date.parse(failed.last_at) + backoffSeconds(failed.count) * 1000 - now;
    if (waitMs > 0) throw tooManyLogins(Math.ceil(waitMs / 1000));
  }
  if (key.address.startsWith(deviceSource(''))) return;
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  if (all >= ACCOUNT_FAILURES_BEFORE_DELAY) await deps.limits.wait(ACCOUNT_DELAY_MS);
};

/**
 * Takes a try back if the caller is logged in and gave the right password, since that is not a
 * login.
 */
export const refundTry = ({ limits }: FloodDeps, key: FailureKey): void =>
  limits.tries.giveBack(triesOf(key));

const triesOf = ({ address, account }: FailureKey): string => `${address} ${account}`;

/** Counts a failure and notifies the user of a burst. `userId` is null if nobody has that name. */
export const addFailure = async (
  deps: FloodDeps,
  key: FailureKey,
  userId: string | null,
): Promise<void> => {
  const now = deps.clock.now();
  await deps.users.addFailure(key, iso(now));
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  // Above this the user was notified already.
  if (userId === null || all < BURST || all >= 2 * BURST) return;
  await deps.outbox.send(userId, {
    kind: 'login.failures',
    title: `${BURST} wrong logins to your account within an hour`,
    body:
      'They were refused. Somebody may be guessing your password: a second factor keeps them out ' +
      'even then: adjutant auth totp setup',
    link: pageLink('device'),
    effectId: `login.failures ${userId} ${iso(now).slice(0, 10)}`,
  });
};

export const tooManyLogins = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many wrong logins. Try again in ${retryAfter} s`, {
    code: 'too_many_logins',
    retryAfter,
  });
