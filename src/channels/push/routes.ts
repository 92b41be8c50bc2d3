import Boom from '@hapi/boom';
import { resource } from '../../kernel/route.js';
import type { ChannelsStore } from '../queries.js';
import { push as contract } from './contract.js';
import { type PushDeps, subscribe, viewSubscription } from './service.js';

export interface PushRoutesDeps extends PushDeps {
  channels: Pick<ChannelsStore, 'delete'>;
  publicKey(): Promise<string>;
}

export const pushResource = (deps: PushRoutesDeps) =>
  resource('push', contract, {
    key: async () => ({ publicKey: await deps.publicKey() }),
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.push.list(by.userId, query);
      return { subscriptions: rows.map(viewSubscription), nextCursor };
    },
    subscribe: ({ body }, by) => subscribe(deps, body, by),
    delete: async ({ id }, by) => {
      const found = await deps.push.find(by.userId, id);
      if (found && (await deps.channels.delete(by.userId, id, [by.record()]))) return;
      throw Boom.notFound('Push subscription not found');
    },
  });
