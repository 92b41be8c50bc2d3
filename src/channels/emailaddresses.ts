import Boom from '@hapi/boom';
import type { Recorder } from '../kernel/contract/audit.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Http } from '../kernel/http.js';
import { badRequest } from '../kernel/route.js';
import type { CreatedAddress } from './addresses.js';
import type { ChannelTest, NewChannel } from './contract.js';
import type { ChannelsStore } from './queries.js';
import { shownName } from './sender.js';
import type { LinkingDeps } from './service.js';

export interface AddressingDeps extends Pick<LinkingDeps, 'addresses' | 'accounts'> {
  channels: ChannelsStore;
  http: Pick<Http, 'check'>;
}

/** Ours: limit for one user. */
const MOST_WEBHOOKS = 20;

export const createChannel = async (
  { addresses, channels, http, accounts }: AddressingDeps,
  by: Caller & Recorder,
  { url, name, password }: NewChannel,
): Promise<CreatedAddress> => {
  refuseBad(url, http);
  await accounts.proveFresh(by, password);
  if ((await channels.countWebhooks(by.userId)) >= MOST_WEBHOOKS) {
    throw Boom.conflict(`You have ${MOST_WEBHOOKS} webhook channels, the most there may be`);
  }
  const host = new URL(url).host;
  const shown = shownName({ kind: 'webhook', id: host, name: name ?? host });
  return addresses.create(by.userId, { url, name: shown }, ({ id, kind }) => [
    by.record({ target: id, data: { kind, host } }),
  ]);
};

const refuseBad = (url: string, { check }: Pick<Http, 'check'>): void => {
  try {
    check(url);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw badRequest([{ path: 'url', message }]);
  }
};

export const testChannel = async (
  { addresses }: AddressingDeps,
  { userId, signal }: Caller,
  { id: channelId, verified_at }: { id: string; verified_at: string | null },
): Promise<ChannelTest> => {
  if (verified_at === null) {
    throw Boom.conflict('The channel is not verified: say the code that was sent there', {
      code: 'not_verified',
    });
  }
  const { id: sendingId, ...rest } = await addresses.test(userId, channelId, signal);
  return { sendingId, ...rest };
};
