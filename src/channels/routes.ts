import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { resource } from '../kernel/route.js';
import type { ChannelRow } from '../store/tables/channels.js';
import { type Channel, channels } from './contract.js';
import { type AddressingDeps, createChannel, testChannel } from './emailaddresses.js';
import type { ShownChannelRow } from './queries.js';
import { findLinkCode, type LinkingDeps, redeemLinkCode, verifyChannel } from './service.js';

export interface ChannelRoutesDeps extends LinkingDeps, AddressingDeps {}

export const channelsResource = (deps: ChannelRoutesDeps) =>
  resource('channels', channels, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.channels.list(by.userId, page);
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
      await verifyChannel(deps, by, { id, code: body.code });
      return viewChannel(await owned(deps, by.userId, id));
    },
    test: async ({ id }, by) => testChannel(deps, by, await owned(deps, by.userId, id)),
    codes: async ({ body }, by) => {
      await deps.accounts.proveFresh(by, body?.password);
      return deps.links.codeFor(by.userId, [by.record()]);
    },
    preview: async ({ body }, by) => {
      const { kind, id: address, name, expiresAt } = await findLinkCode(deps, by, body.code);
      return { kind, address, name, expiresAt };
    },
    link: async ({ body }, by) => viewChannel(await redeemLinkCode(deps, by, body)),
  });

const owned = async ({ channels: { get } }: ChannelRoutesDeps, userId: string, id: string) => {
  const row = await get(userId, id);
  if (!row) throw noChannel();
  return row;
};

const noChannel = (): Boom.Boom => Boom.notFound('No channel with that id');

const viewChannel = (row: ChannelRow & Partial<ShownChannelRow>): Channel => ({
  id: row.id,
  kind: row.kind,
  address: row.url ?? row.sender_id,
  name: row.sender_name,
  verifiedAt: row.verified_at,
  createdAt: row.created_at,
});
