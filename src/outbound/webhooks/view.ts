import {
  type MessageStatus,
  type OutboundMessageRow,
  outboundMessageTable,
  type WebhookRow,
  webhookTable,
} from '../../store/tables/outbox.js';
import { viewer } from '../../store/view.js';
import { OutgoingWebhook, WebhookDelivery } from './contract.js';

export type WebhookWithStats = WebhookRow & {
  waiting: number | null;
  sent: number | null;
  failed: number | null;
  last_delivery_at: string | null;
  last_status: MessageStatus | null;
};

export const viewWebhook = viewer(webhookTable, OutgoingWebhook, {
  secretSet: () => true,
  stats: (row: WebhookWithStats) => ({
    waiting: row.waiting ?? 0,
    sent: row.sent ?? 0,
    failed: row.failed ?? 0,
    lastDeliveryAt: row.last_delivery_at,
    lastStatus: row.last_status,
    failingSince: row.failing_since,
  }),
});

export type WebhookDeliveryRow = Omit<
  OutboundMessageRow,
  'user_id' | 'channel_id' | 'webhook_id' | 'hook_id' | 'object' | 'attempts' | 'receipt' | 'hops'
> & {
  attempts: string;
};

export const viewDelivery = viewer(outboundMessageTable, WebhookDelivery, {
  webhookId: (row: WebhookDeliveryRow) => row.cause_id,
  event: (row) => row.kind,
  payload: (row) => JSON.parse(row.content),
  attempts: (row) => JSON.parse(row.attempts),
  nextAttemptAt: (row) => row.next_at,
});
