import type { Base } from '../base.js';
import { iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { NotificationRow } from '../store/tables/notifications.js';
import type { NoticeBatchRow } from '../store/tables/preferences.js';
import { visibleTo } from '../store/visible.js';
import type { Policy } from './fanout.js';
import { noticeKind } from './noticekinds.js';
import { isWanted, type Preferences, readPreferences } from './preferences.js';
import { quietUntil } from './quiethours.js';

const MINUTE_MS = 60_000;

/**
 * Creates the policy that applies the owner's preferences. It drops kinds that a channel does not
 * want, holds back what can wait in quiet hours, and of many notifications of one kind sends the
 * first few. The rest is held for one digest.
 */
export const createPolicy =
  (base: Base): Policy =>
  async (notice, channels) => {
    const preferences = await readPreferences(base.store, notice.user_id);
    const wants = ({ id }: ChannelRow) => isWanted(preferences.choices, notice.kind, id);
    const now = channels.filter(wants);
    const batch = now.length > 0 ? await batchFor(base, notice, preferences) : null;
    // It is held once for all channels: when it is sent, the preferences of each channel are read
    // again.
    return batch === null
      ? { now, held: [] }
      : { now: [], held: hold(base.store, batch, notice.id) };
  };

/**
 * Returns the batch that the notification waits in, open or to be opened; null: it does not wait.
 */
const batchFor = async (
  { store, clock }: Base,
  { user_id, kind }: NotificationRow,
  { quietHours, digest }: Preferences,
): Promise<NoticeBatchRow | null> => {
  if (noticeKind(kind).rank !== 'plain') return null;
  const now = clock.now();
  const opened = { id: mint('batch', now), user_id, told: 0, opened_at: iso(now) };
  const until = quietHours.enabled ? quietUntil(quietHours, now) : null;
  if (until !== null) return { ...opened, kind: null, closes_at: iso(until) };
  if (!digest.enabled) return null;
  const closes_at = iso(now + digest.windowMinutes * MINUTE_MS);
  const batch = { ...opened, kind, closes_at };
  return (await isAmongFirst(store, batch, digest.threshold)) ? null : batch;
};

/**
 * Counts a notification as sent singly, and returns true, if there is room under the threshold.
 * Ours: one during which the daemon is killed is counted twice, so that one less is sent singly;
 * none is lost and none sent twice.
 */
const isAmongFirst = async (
  store: Store,
  batch: NoticeBatchRow,
  threshold: number,
): Promise<boolean> => {
  if (threshold === 0) return false;
  const count = store.db
    .updateTable('notice_batches')
    .set((of) => ({ told: of('told', '+', 1) }))
    .where(visibleTo(batch.user_id))
    .where('kind', 'is', batch.kind)
    .where('told', '<', threshold);
  const [, counted] = await store.transact([open(store, batch), statement(count)]);
  return counted?.changes === 1;
};

/**
 * Builds the statements that put the notification into the open batch, opening one if necessary.
 */
const hold = (store: Store, batch: NoticeBatchRow, notificationId: string): Statement[] => {
  const held = store.db
    .selectFrom('notice_batches')
    .select((of) => [of.val(notificationId).as('notification_id'), 'id'])
    .where(visibleTo(batch.user_id))
    .where('kind', 'is', batch.kind);
  const insert = store.db
    .insertInto('held_notices')
    .columns(['notification_id', 'batch_id'])
    .expression(held);
  return [open(store, batch), statement(insert, 1)];
};

const open = ({ db }: Store, batch: NoticeBatchRow): Statement =>
  statement(
    db
      .insertInto('notice_batches')
      .values(batch)
      .onConflict((on) => on.doNothing()),
  );
