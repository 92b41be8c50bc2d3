import Boom from '@hapi/boom';
import { hostAndPort } from '../kernel/egress.js';
import { resource } from '../kernel/route.js';
import { type ChannelRow, channelTable } from '../store/tables/channels.js';
import { viewer } from '../store/view.js';
import { type AddressCodesDeps, sendMailboxCode, sendTopicCode } from './addresscodes.js';
import { type AddressesDeps, createChannel, testChannel, verifyChannel } from './addresses.js';
import { Channel, channels } from './contract.js';
import type { ShownChannelRow } from './queries.js';
import { guarded, type LinkingDeps, redeemLinkCode } from './service.js';

export interface ChannelRoutesDeps extends LinkingDeps, AddressesDeps, AddressCodesDeps {}

export const channelsResource = (deps: ChannelRoutesDeps) =>
  resource('channels', channels, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.channels.list(by.userId, query);
      return { channels: rows.map(viewChannel), nextCursor };
    },
    delete: async ({ id }, by) => {
      if (!(await deps.channels.delete(by.userId, id, [by.record()]))) throw noChannel();
    },
    create: async ({ body }, by) => {
      const { row, secret } = await createChannel(deps, by, body);
      return { channel: viewChannel(row), secret };
    },
    verify: async ({ id, body }, by) => {
      await owned(deps, by.userId, id);
      await guarded(deps, by, () => verifyChannel(deps, by, { id, code: body.code }));
      return viewChannel(await owned(deps, by.userId, id));
    },
    test: async ({ id }, by) => testChannel(deps, by, await owned(deps, by.userId, id)),
    codes: async ({ body }, by) => {
      await deps.accounts.proveFresh(by, body?.password);
      return deps.links.codeFor(by.userId, [by.record()]);
    },
    ntfy: ({ body }, by) => sendTopicCode(deps, by, body),
    email: ({ body }, by) => sendMailboxCode(deps, by, body),
    preview: async ({ body }, by) => {
      const {
        kind,
        id: address,
        name,
        expiresAt,
      } = await guarded(deps, by, () => deps.links.senderOf(by.userId, body.code));
      return { kind, address, name, expiresAt };
    },
    link: async ({ body }, by) => viewChannel(await redeemLinkCode(deps, by, body)),
  });

const owned = async ({ channels: { get } }: ChannelRoutesDeps, userId: string, id: string) => {
  const row = await get(userId, id);
  if (!row) throw noChannel();
  return row;
};

const noChannel = (): Boom.Boom => Boom.notFound('Channel not found');

const viewChannel = viewer(channelTable, Channel, {
  // The URL at a push service is as sensitive as a secret.
  address: (row: ChannelRow & Partial<ShownChannelRow>) =>
    row.kind === 'push' ? hostAndPort(row.url ?? '') : (row.url ?? row.sender_id),
  name: (row) => row.sender_name,
});
