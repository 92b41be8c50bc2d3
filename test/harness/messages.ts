import { iso } from '../../src/kernel/clock.js';
import { mint } from '../../src/kernel/ids.js';
import type { TestApp } from './app.js';

/** A reply of the hook whose response was lost. */
export const seedLostReply = async (
  { app }: TestApp,
  { hookId, executionId }: { hookId: string; executionId: string },
): Promise<string> => {
  const now = Date.now();
  const id = mint('sending', now);
  const target = { object: 'octo/hello#7', place: { repository: 'octo/hello', number: '7' } };
  const content = { preset: 'github', target, text: 'A private text', executionId };
  const { user_id } = await app.store.db
    .selectFrom('hooks')
    .select('user_id')
    .where('id', '=', hookId)
    .executeTakeFirstOrThrow();
  const row = {
    ...{ id, user_id, hook_id: hookId, object: target.object, channel_id: null, webhook_id: null },
    ...{ cause_id: executionId, kind: 'reply', content: JSON.stringify(content) },
    ...{ status: 'unknown' as const, attempts: 1, next_at: null, receipt: null, error: 'lost' },
    ...{ created_at: iso(now), finished_at: iso(now) },
  };
  await app.store.db.insertInto('sendings').values(row).execute();
  return id;
};

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
