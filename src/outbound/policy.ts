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
import { isKindEnabled, type Preferences, readPreferences } from './preferences.js';
import { quietUntil } from './quiethours.js';

const MINUTE_MS = 60_000;

/**
 * Drops muted kinds, holds in quiet hours what can wait, and combines many of a kind into a digest
 * after the first few.
 */
export const createPolicy =
  (base: Base): Policy =>
  async (notice, channels) => {
    const preferences = await readPreferences(base.store, notice.user_id);
    const wants = ({ id }: ChannelRow) => isKindEnabled(preferences.choices, notice.kind, id);
    const now = channels.filter(wants);
    const batch = now.length > 0 ? await batchFor(base, notice, preferences) : null;
    // Held once for all channels; preferences are read again when it is sent.
    return batch === null
      ? { now, held: [] }
      : { now: [], held: hold(base.store, batch, notice.id) };
  };

/** null: not held. */
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

/** If the daemon is killed here, one notification is counted twice; none is lost or sent twice. */
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

/** Opens a batch if necessary. */
const hold = (store: Store, batch: NoticeBatchRow, notificationId: string): Statement[] => {
  const heldItems = store.db
    .selectFrom('notice_batches')
    .select((of) => [of.val(notificationId).as('notification_id'), 'id'])
    .where(visibleTo(batch.user_id))
    .where('kind', 'is', batch.kind);
  const insert = store.db
    .insertInto('held_notices')
    .columns(['notification_id', 'batch_id'])
    .expression(heldItems);
  return [open(store, batch), statement(insert, 1)];
};

const open = ({ db }: Store, batch: NoticeBatchRow): Statement =>
  statement(
    db
      .insertInto('notice_batches')
      .values(batch)
      .onConflict((on) => on.doNothing()),
  );
