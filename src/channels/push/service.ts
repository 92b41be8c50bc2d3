import { createHash, createPublicKey } from 'node:crypto';
import Boom from '@hapi/boom';
import { isLoopbackName } from '../../kernel/clientaddress.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { hostAndPort } from '../../kernel/egress.js';
import type { Http } from '../../kernel/http.js';
import { mint } from '../../kernel/ids.js';
import { throwIfFaults } from '../../kernel/route.js';
import type { NewSubscription, PushSubscription } from './contract.js';
import { MAX_SUBSCRIPTIONS, type PushRow, type PushStore } from './queries.js';

export interface PushDeps {
  push: PushStore;
  clock: Clock;
  http: Http;
  sealChannelSecret(channelId: string, secret: string): string;
}

/** Sealed together as one secret of the channel. */
export interface PushKeys {
  p256dh: string;
  auth: string;
}

export const viewSubscription = (row: PushRow): PushSubscription => ({
  id: row.id,
  name: row.sender_name,
  service: hostAndPort(row.url ?? ''),
  createdAt: row.created_at,
});

/** A repeated subscription replaces the earlier one. */
export const subscribe = async (
  { push, clock, http, sealChannelSecret }: PushDeps,
  { endpoint, keys, name }: NewSubscription,
  by: Caller & Recorder,
): Promise<PushSubscription> => {
  throwIfFaults([...endpointFaults(http, endpoint), ...keyFaults(keys.p256dh)]);
  const now = clock.now();
  const id = mint('channel', now);
  const url = withoutFragment(endpoint);
  const row = {
    id,
    user_id: by.userId,
    kind: 'push' as const,
    sender_id: createHash('sha256').update(url).digest('hex'),
    sender_name: name ?? 'Browser',
    verified_at: iso(now),
    url,
    secret_sealed: sealChannelSecret(id, JSON.stringify({ p256dh: keys.p256dh, auth: keys.auth })),
    created_at: iso(now),
  };
  const data = { name: row.sender_name, service: hostAndPort(url) };
  if (await push.subscribe(row, [by.record({ target: id, data })])) return viewSubscription(row);
  throw Boom.conflict(
    `You have the maximum of ${MAX_SUBSCRIPTIONS} push subscriptions. Delete a subscription first`,
    { code: 'too_many_subscriptions' },
  );
};

/** Browsers send no fragment, so URLs that differ only in it are equal. */
const withoutFragment = (endpoint: string): string => {
  const url = new URL(endpoint);
  url.hash = '';
  return url.href;
};

/** HTTPS, or HTTP on this machine if ADJUTANT_EGRESS_ALLOW contains it. */
const endpointFaults = (http: Http, endpoint: string) => {
  const fault = (message: string) => [{ path: 'endpoint', message }];
  if (!URL.canParse(endpoint)) return fault('must be a URL that begins with https://');
  const { protocol, host } = new URL(endpoint);
  if (protocol !== 'https:' && !isLoopbackName(host)) return fault('must begin with https://');
  try {
    http.check(endpoint);
    return [];
  } catch (error) {
    return fault(error instanceof Error ? error.message : 'cannot be reached');
  }
};

/** A key that is not a point on the curve cannot be used for encryption. */
const keyFaults = (p256dh: string) => {
  const point = Buffer.from(p256dh, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  );
  try {
    if (point[0] !== 4) throw new Error('The point is compressed');
    createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
    return [];
  } catch {
    return [{ path: 'keys.p256dh', message: 'must be an uncompressed P-256 point' }];
  }
};
