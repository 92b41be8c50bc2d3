import { createHash, randomBytes } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Outbox, QueuedMessage } from '../../outbound/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { AuthStore } from './queries.js';
import { addressText, clientProgram } from './rules.js';

const DAY_MS = 24 * 3600 * 1000;
const DEVICE_DAYS = 180;
const NOTIFY_AGAIN_DAYS = 30;

interface NewDeviceDeps {
  users: Pick<AuthStore, 'isDevice' | 'keepDevice' | 'placeTold' | 'keepPlace'>;
  clock: Clock;
  outbox: Pick<Outbox, 'toOwner'>;
}

export type Origin = Pick<RequestContext, 'address' | 'isShared' | 'userAgent'>;

/** Returns the digest of the device token if it is valid for that user, else null. */
export const recognizeDevice = async (
  { users, clock }: NewDeviceDeps,
  userId: string | undefined,
  token: string | undefined,
): Promise<string | null> => {
  if (userId === undefined || token === undefined) return null;
  const digest = computeDigest(token);
  const isKnown = await users.isDevice({ user_id: userId, digest }, iso(clock.now()));
  return isKnown ? digest : null;
};

/** Issues a device token for 180 days. A valid token is extended. */
export const rememberDevice = (
  { users, clock }: NewDeviceDeps,
  userId: string,
  known: string | null,
): { deviceToken: string; steps: TransactionStep[] } => {
  const deviceToken = known ?? randomBytes(32).toString('base64url');
  const expires_at = iso(clock.now() + DEVICE_DAYS * DAY_MS);
  const row = { digest: computeDigest(deviceToken), user_id: userId, expires_at };
  return { deviceToken, steps: users.keepDevice(row) };
};

interface DeviceNotice {
  steps: TransactionStep[];
  published(): void;
}
const NO_NOTICE: DeviceNotice = { steps: [], published: () => undefined };

/**
 * Notifies the user of a login from a network or program that was not used in the last 30 days. The
 * place of the registration is stored without a notification.
 */
export const notifyNewDevice = async (
  deps: NewDeviceDeps,
  { userId, by, isRegistration }: { userId: string; by: Origin; isRegistration: boolean },
): Promise<DeviceNotice> => {
  const { users, clock } = deps;
  const place = {
    user_id: userId,
    network: addressText(by.address),
    program: computeDigest(by.userAgent),
  };
  const now = clock.now();
  const keep = users.keepPlace({ ...place, told_at: iso(now) });
  if (isRegistration) return { ...NO_NOTICE, steps: [keep] };
  const notifiedAt = await users.placeTold(place);
  if (notifiedAt !== undefined && now - Date.parse(notifiedAt) < NOTIFY_AGAIN_DAYS * DAY_MS)
    return NO_NOTICE;
  const effectId = `login.device ${Object.values(place).join(' ')} ${notifiedAt ?? toHour(now)}`;
  const { statements, published } = buildLoginNotice(deps, userId, by, effectId);
  return { steps: [keep, ...statements], published };
};

const buildLoginNotice = (
  deps: NewDeviceDeps,
  userId: string,
  by: Origin,
  effectId: string,
): QueuedMessage => {
  const from = by.isShared ? 'an unknown address behind the tunnel' : by.address;
  return deps.outbox.toOwner(userId, {
    kind: 'login.device',
    title: 'New device logged in to your account',
    body:
      `Address: ${from}. Program: ${clientProgram(by.userAgent)}. If this was not you, change your ` +
      'password, which ends all other logins: adjutant auth password',
    link: pageLink('device'),
    effectId,
  });
};

/** The hour, so that two concurrent logins give one notification. */
const toHour = (now: number): string => iso(now).slice(0, 13);

const computeDigest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url');
