import Boom from '@hapi/boom';
import { DEFAULT_LIMIT } from '../../kernel/page.js';
import { resource } from '../../kernel/route.js';
import type { ChannelRow } from '../../store/tables/channels.js';
import { type Channel, channels } from './contract.js';
import { type LinkingDeps, look, redeem } from './service.js';
import type { ChannelsStore } from './store.js';

export interface ChannelsDeps extends LinkingDeps {
  channels: ChannelsStore;
}

export const channelsResource = (deps: ChannelsDeps) =>
  resource('channels', channels, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.channels.list(by.userId, page);
      return { channels: rows.map(viewChannel), nextCursor };
    },
    delete: async ({ id }, by) => {
      if (!(await deps.channels.delete(by.userId, id, [by.record()]))) throw noChannel();
    },
    test: async ({ id }, by) => {
      if (!(await deps.channels.get(by.userId, id))) throw noChannel();
      throw Boom.notImplemented('Channels cannot send yet; the README lists what is built', {
        code: 'not_built',
      });
    },
    codes: (_input, by) => deps.links.codeFor(by.userId, [by.record()]),
    preview: async ({ body }, by) => {
      const { kind, id: address, name, expiresAt } = await look(deps, by, body.code);
      return { kind, address, name, expiresAt };
    },
    link: async ({ body }, by) => viewChannel(await redeem(deps, by, body.code)),
  });

const noChannel = (): Boom.Boom => Boom.notFound('No channel with that id');

const viewChannel = (row: ChannelRow): Channel => ({
  id: row.id,
  kind: row.kind,
  address: row.sender_id,
  name: row.sender_name,
  verifiedAt: row.verified_at,
  createdAt: row.created_at,
});
