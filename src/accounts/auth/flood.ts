import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Pace } from '../../kernel/pace.js';
import { pageLink } from '../../kernel/pagepath.js';
import { getNetworkPrefix, type Rate } from '../../kernel/rate.js';
import type { Outbox } from '../../outbound/module.js';
import type { Origin } from './newdevice.js';
import type { AuthStore, FailureKey } from './queries.js';
import { backoffSeconds } from './rules.js';

const HOUR_MS = 3600 * 1000;
const ACCOUNT_DELAY_MS = 2000;
const ACCOUNT_FAILURES_BEFORE_DELAY = 10;
/** The number of failures of an account within an hour that triggers a notification, once a day. */
const BURST = 10;

export interface FloodDeps {
  users: Pick<AuthStore, 'failures' | 'failuresOfAccount' | 'addFailure'>;
  clock: Clock;
  outbox: Outbox;
  limits: LoginLimits;
}

export interface LoginLimits {
  /** Limits the attempts on one account from one address, including successful ones. */
  tries: Rate;
  /** Paces the logins to one account from a shared address. */
  pace: Pace;
  wait(ms: number): Promise<void>;
}

/**
 * Returns the source by which failures are counted in addition to the account: the network, or behind
 * a shared address the known device. Other clients behind a shared address count only for the burst.
 */
export const failureSource = ({ address, isShared }: Origin, device: string | null): string => {
  if (!isShared) return getNetworkPrefix(address);
  return device === null ? SHARED : deviceSource(device);
};
const SHARED = 'shared';
const deviceSource = (device: string): string => `device ${device}`;

/** Returns the key under which passwords are queued for checking. */
export const passwordQueueKey = (
  { account, address }: FailureKey,
  device: string | null,
): string => {
  if (device !== null) return deviceSource(device);
  return address === SHARED ? `${SHARED} ${account}` : address;
};

/** Failures of unauthenticated clients behind a shared address do not count against a caller. */
export const loggedInSource = (by: Origin): string =>
  by.isShared ? 'logged in' : failureSource(by, null);

/**
 * The back-off is per account and source. The failures of an account from all sources cause a delay,
 * never a refusal.
 */
export const refuseFlood = async (deps: FloodDeps, key: FailureKey): Promise<void> => {
  if (key.address === SHARED) return;
  // Concurrent attempts are not counted as failures yet.
  const tries = deps.limits.tries.take(buildAttemptKey(key));
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

/** A right password of a caller who is logged in is not a login attempt. */
export const refundTry = ({ limits }: FloodDeps, key: FailureKey): void =>
  limits.tries.giveBack(buildAttemptKey(key));

const buildAttemptKey = ({ address, account }: FailureKey): string => `${address} ${account}`;

/** `userId` is null if no account has that name. */
export const addFailure = async (
  deps: FloodDeps,
  key: FailureKey,
  userId: string | null,
): Promise<void> => {
  const now = deps.clock.now();
  await deps.users.addFailure(key, iso(now));
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  // Above this number, the user was already notified.
  if (userId === null || all < BURST || all >= 2 * BURST) return;
  await deps.outbox.send(userId, {
    kind: 'login.failures',
    title: `${BURST} failed logins to your account within an hour`,
    body:
      'The logins were refused. Somebody may be guessing your password. A second factor protects ' +
      'your account even then: adjutant auth totp setup',
    link: pageLink('device'),
    effectId: `login.failures ${userId} ${iso(now).slice(0, 10)}`,
  });
};

export const tooManyLogins = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many failed logins. Try again in ${retryAfter} s`, {
    code: 'too_many_logins',
    retryAfter,
  });
