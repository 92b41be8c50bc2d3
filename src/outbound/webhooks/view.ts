import type { SendingRow, SendingStatus, WebhookRow } from '../../store/tables/outbox.js';
import type { OutgoingWebhook, WebhookDelivery } from './contract.js';

export type WebhookWithStats = WebhookRow & {
  waiting: number | null;
  sent: number | null;
  failed: number | null;
  last_delivery_at: string | null;
  last_status: SendingStatus | null;
};

/** Returns a webhook as the API shows it. Of its secret it shows only that one is set. */
export const viewWebhook = (row: WebhookWithStats): OutgoingWebhook => ({
  id: row.id,
  name: row.name,
  url: row.url,
  events: JSON.parse(row.events),
  enabled: row.enabled === 1,
  secretSet: true,
  credentialId: row.credential_id,
  oldSecretUntil: row.old_secret_until,
  disabledReason: row.disabled_reason,
  stats: {
    waiting: row.waiting ?? 0,
    sent: row.sent ?? 0,
    failed: row.failed ?? 0,
    lastDeliveryAt: row.last_delivery_at,
    lastStatus: row.last_status,
    failingSince: row.failing_since,
  },
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export type WebhookDeliveryRow = Pick<
  SendingRow,
  | 'id'
  | 'cause_id'
  | 'kind'
  | 'content'
  | 'status'
  | 'next_at'
  | 'error'
  | 'created_at'
  | 'finished_at'
> & {
  /** A JSON list of attempts, as they are shown. */
  attempts: string;
};

export const viewDelivery = (row: WebhookDeliveryRow): WebhookDelivery => ({
  id: row.id,
  webhookId: row.cause_id,
  event: row.kind,
  status: row.status,
  payload: JSON.parse(row.content),
  attempts: JSON.parse(row.attempts),
  nextAttemptAt: row.next_at,
  error: row.error,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});
