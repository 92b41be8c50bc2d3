import {
  type Client,
  contracts,
  type OutgoingWebhook,
  type WebhookDelivery,
} from '../../src/client/index.js';
import { shownAs, type TableColumn } from '../columns.js';
import { crud } from '../crud.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { ago, duration, localTime } from '../times.js';

export const webhookTableColumns: TableColumn<OutgoingWebhook>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'name', value: (one) => one.name },
  { name: 'state', value: (one) => stateOf(one), isState: true },
  { name: 'events', value: (one) => one.events.join(' ') },
  { name: 'url', value: (one) => one.url },
  { name: 'sent', value: (one) => one.stats.sent, isNumber: true },
  { name: 'failed', value: (one) => one.stats.failed, isNumber: true },
  { name: 'waiting', value: (one) => one.stats.waiting, isNumber: true },
  shownAs('last', (one) => one.stats.lastDeliveryAt, ago, 'never'),
  { name: 'reason', value: (one) => one.disabledReason, only: 'data' },
];

const stateOf = ({ enabled, stats }: OutgoingWebhook): string => {
  if (!enabled) return 'disabled';
  return stats.failingSince === null ? 'enabled' : 'failing';
};

export const deliveryColumns: TableColumn<WebhookDelivery>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  shownAs('time', (one) => one.createdAt, localTime),
  { name: 'status', value: (one) => one.status, isState: true },
  { name: 'event', value: (one) => one.event },
  { name: 'attempts', value: (one) => one.attempts.length, isNumber: true },
  { name: 'code', value: (one) => one.attempts.at(-1)?.statusCode },
  { ...shownAs('took', (one) => one.attempts.at(-1)?.durationMs, duration), isNumber: true },
  shownAs('next', (one) => one.nextAttemptAt, localTime),
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
  { name: 'error', value: (one) => one.error },
  { name: 'response', value: (one) => one.attempts.at(-1)?.response, only: 'data' },
];

/** An outgoing webhook is known by its id, the end of that, or its name. */
export const webhookCrud = crud({
  noun: 'webhook',
  rows: 'webhooks',
  endpoints: await contracts.webhooks(),
  columns: webhookTableColumns,
  named: (webhook) => webhook,
});

/** The delivery of a webhook that was meant by an id or the end of one. */
export const deliveryId = (client: Client, webhook: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'sending',
    called: 'delivery',
    listed: `webhooks deliveries ${webhook.slice(-6)}`,
    pages: NEWEST_PAGES,
    page: async (cursor) => {
      const query = { limit: 200, cursor };
      const { deliveries, nextCursor } = await client.webhooks.deliveries({ id: webhook, query });
      return { rows: deliveries.map(({ id }) => ({ id, name: id })), nextCursor };
    },
  });
