import { orNotFound, resource } from '../../kernel/route.js';
import type { WebhooksStore } from '../webhooks/queries.js';
import { findUserWebhookRow } from '../webhooks/service.js';
import { resends } from './contract.js';
import { type ResendsDeps, resendUndelivered } from './service.js';

interface ResendsRoutesDeps extends ResendsDeps {
  webhooks: WebhooksStore;
}

export const resendsResource = (deps: ResendsRoutesDeps) =>
  resource('resends', resends, {
    webhooks: async ({ body: { webhookId: targetId, ...given } }, by) => {
      if (targetId !== undefined) await findUserWebhookRow(deps, by.userId, targetId);
      return resendUndelivered(deps, { to: 'webhook', targetId, given }, by);
    },
    outbox: async ({ body: { channelId: targetId, ...given } }, by) => {
      if (targetId !== undefined) {
        orNotFound(await deps.undelivered.channel(targetId), 'Channel not found');
      }
      return resendUndelivered(deps, { to: 'channel', targetId, given }, by);
    },
  });
