import { iso } from '../../src/kernel/clock.js';
import { mint } from '../../src/kernel/ids.js';
import type { TestApp } from './app.js';

/** A disabled outgoing webhook, so that nothing is sent, with a failed delivery. */
export const seedWebhook = async (
  { app, call }: TestApp,
  token: string,
): Promise<{ id: string; deliveryId: string }> => {
  const body = { name: 'app', url: 'https://app.example.org/', events: ['*'], enabled: false };
  const { id } = (await call('POST', '/api/webhooks', { token, body })).body;
  const { db } = app.store;
  const { user_id } = await db
    .selectFrom('webhooks')
    .select('user_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const now = Date.now();
  const event = { type: 'hook.executed', timestamp: iso(now), data: {} };
  const row = {
    ...{ id: mint('sending', now), user_id, channel_id: null, webhook_id: id },
    ...{ cause_id: mint('event', now), kind: event.type, content: JSON.stringify(event) },
    ...{ status: 'failed' as const, attempts: 1, next_at: null, receipt: null, error: 'no' },
    ...{ created_at: iso(now), finished_at: iso(now) },
  };
  await db.insertInto('sendings').values(row).execute();
  return { id, deliveryId: row.id };
};
