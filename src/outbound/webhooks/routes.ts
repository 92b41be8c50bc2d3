import { resource } from '../../kernel/route.js';
import { webhooks } from './contract.js';
import { type ResendDeps, resendMessage, sendTestEvent } from './resend.js';
import {
  createWebhook,
  deleteWebhook,
  findUserWebhookRow,
  findWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WebhooksDeps,
} from './service.js';
import { viewDelivery, viewWebhook } from './view.js';

export const webhooksResource = (deps: WebhooksDeps & ResendDeps) =>
  resource('webhooks', webhooks, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.webhooks.list(by.userId, query);
      return { webhooks: rows.map(viewWebhook), nextCursor };
    },
    create: async ({ body }, by) => {
      const { row, secret } = await createWebhook(deps, body, by);
      return { ...viewWebhook(row), ...(secret !== null && { secret }) };
    },
    get: async ({ id }, by) => viewWebhook(await findWebhook(deps, by.userId, id)),
    update: async ({ id, body }, by) =>
      viewWebhook(await updateWebhook(deps, { id, given: body }, by)),
    delete: ({ id }, by) => deleteWebhook(deps, id, by),
    deliveries: async ({ id, query }, by) => {
      await findUserWebhookRow(deps, by.userId, id);
      const { rows, nextCursor } = await deps.webhooks.deliveries(by.userId, id, query);
      return { deliveries: rows.map(viewDelivery), nextCursor };
    },
    resend: async ({ id, deliveryId }, by) =>
      viewDelivery(await resendMessage(deps, by.userId, { id, deliveryId })),
    test: async ({ id }, by) => sendTestEvent(deps, await findUserWebhookRow(deps, by.userId, id)),
    'rotate-secret': ({ id, body }, by) => rotateWebhookSecret(deps, { id, given: body }, by),
  });
