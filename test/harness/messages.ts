import { iso } from '../../src/kernel/clock.js';
import { mint } from '../../src/kernel/ids.js';
import type { TestApp } from './app.js';

export const seedLostMessage = async (
  { app }: TestApp,
  { userId, channel }: { userId: string; channel: string },
): Promise<string> => {
  const now = Date.now();
  const row = {
    ...{ id: mint('sending', now), user_id: userId, channel_id: channel, webhook_id: null },
    ...{ cause_id: mint('notification', now), kind: 'test', content: '{}' },
    ...{ status: 'failed' as const, attempts: 1, next_at: null, receipt: null, error: 'lost' },
    ...{ created_at: iso(now), finished_at: iso(now) },
  };
  await app.store.db.insertInto('sendings').values(row).execute();
  return row.id;
};
