import type { Store } from '../../store/store.js';
import type { WebhookRow } from '../../store/tables/outbox.js';

export const webhookColumnNames = [
  'id',
  'user_id',
  'name',
  'url',
  'events',
  'secret_sealed',
  'old_secret_sealed',
  'old_secret_until',
  'credential_id',
  'enabled',
  'disabled_reason',
  'failing_since',
  'created_at',
  'updated_at',
] as const;

/** Finds a webhook of any user, for messages under way to it; null: it is gone. */
export const findWebhookRow = async (
  { db }: Store,
  id: string | null,
): Promise<WebhookRow | null> => {
  if (id === null) return null;
  const row = await db
    .selectFrom('webhooks')
    .select(webhookColumnNames)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
};
