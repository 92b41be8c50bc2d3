import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { NoticeBatchRow } from '../store/tables/preferences.js';
import type { Policy, Routed } from './fanout.js';
import { noticeKind } from './noticekinds.js';
import { isWanted, type Preferences, readPreferences } from './preferences.js';
import { quietUntil } from './quiethours.js';

interface PolicyDeps {
  store: Store;
  clock: Clock;
}

const MINUTE_MS = 60_000;

/**
 * What the owner prefers: nothing of a kind that a channel is not to have, nothing of what can wait
 * in quiet hours, and of a storm its first few; the rest is kept for one message.
 */
export const createPolicy =
  (deps: PolicyDeps): Policy =>
  async (notice, channels) => {
    const preferences = await readPreferences(deps.store, notice.user_id);
    const { choices } = preferences;
    const wants = channels.map(({ id }) => isWanted(choices, notice.kind, id));
    const batch = wants.includes(true) ? await waitsIn(deps, notice, preferences) : null;
    if (batch === null) return wants.map((wanted) => ({ verdict: wanted ? 'now' : 'never' }));
    // It waits once, for all channels: which of them want it is asked again when it is told.
    const first = wants.indexOf(true);
    return wants.map((wanted, at): Routed => {
      if (!wanted) return { verdict: 'never' };
      const statements = at === first ? keep(deps.store, batch, notice.id) : [];
      return { verdict: 'gathered', statements };
    });
  };

interface PolicyNotice {
  user_id: string;
  kind: string;
}

/** The batch that the notice waits in, open or to be opened; null: it does not wait. */
const waitsIn = async (
  { store, clock }: PolicyDeps,
  { user_id, kind }: PolicyNotice,
  { quiet, digest }: Preferences,
): Promise<NoticeBatchRow | null> => {
  if (noticeKind(kind).rank !== 'plain') return null;
  const now = clock.now();
  const opened = { id: mint('batch', now), user_id, told: 0, opened_at: iso(now) };
  const until = quiet.isEnabled ? quietUntil(quiet, now) : null;
  if (until !== null) return { ...opened, kind: null, closes_at: iso(until) };
  if (!digest.isEnabled) return null;
  const closes_at = iso(now + digest.windowMinutes * MINUTE_MS);
  const batch = { ...opened, kind, closes_at };
  return (await isAmongFirst(store, batch, digest.threshold)) ? null : batch;
};

/**
 * Counts one that is told by itself, if there is room for it. Ours: one that the daemon is killed
 * over is counted again, so that one less is told so; none is lost and none told twice.
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
    .where('user_id', '=', batch.user_id)
    .where('kind', 'is', batch.kind)
    .where('told', '<', threshold);
  const [, counted] = await store.transact([open(store, batch), statement(count)]);
  return counted?.changes === 1;
};

/** Into the open batch, which is opened where there is none. */
const keep = (store: Store, batch: NoticeBatchRow, notificationId: string): Statement[] => {
  const held = store.db
    .selectFrom('notice_batches')
    .select((of) => [of.val(notificationId).as('notification_id'), 'id'])
    .where('user_id', '=', batch.user_id)
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
