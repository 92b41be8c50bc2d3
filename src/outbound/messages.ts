import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { SendingStatus } from '../store/tables/outbox.js';
import { visibleTo } from '../store/visible.js';

export const SENDING_JOB = 'sending';
/** The error of a message to a disabled webhook. */
export const DISABLED = 'The webhook is disabled: enable it, then resend this';

/** A message to one target. */
export interface NewSending {
  userId: string;
  target: { channelId: string } | { webhookId: string };
  /**
   * The notification or the outgoing event that caused it. Each target gets one message for a
   * cause.
   */
  causeId: string;
  kind: string;
  content: unknown;
  /** The number of times that its cause came back to this daemon. */
  hops?: number;
  /** Set if it has failed before it began, because its target was disabled after its cause. */
  error?: string;
}

/** Returns the lane of a target. Each target has a lane of its own. */
export const laneOf = ({ target }: Pick<NewSending, 'target'>): string =>
  'channelId' in target ? target.channelId : target.webhookId;

/**
 * Builds the statements for a message and its job. Nothing is inserted if the target got a message
 * for that cause before, or if the target is gone: it was read in another transaction.
 */
export const addSending = (
  { store: { db }, clock }: { store: Store; clock: Clock },
  sending: NewSending,
): Statement[] => {
  const now = clock.now();
  const id = mint('sending', now);
  const at = iso(now);
  const lane = laneOf(sending);
  const target = db
    .selectFrom('channelId' in sending.target ? 'channels' : 'webhooks')
    .select((of) => [
      of.val(id).as('new_id'),
      'user_id',
      of.val('channelId' in sending.target ? lane : null).as('channel_id'),
      of.val('webhookId' in sending.target ? lane : null).as('webhook_id'),
      of.val(sending.causeId).as('cause_id'),
      of.val(sending.kind).as('kind'),
      of.val(JSON.stringify(sending.content)).as('content'),
      of.val(sending.hops ?? 0).as('hops'),
      of.val(sending.error === undefined ? 'queued' : 'failed').as('status'),
      of.val(sending.error === undefined ? at : null).as('next_at'),
      of.val(sending.error ?? null).as('error'),
      of.val(sending.error === undefined ? null : at).as('finished_at'),
      of.val(at).as('at'),
    ])
    .where(visibleTo(sending.userId))
    .where('id', '=', lane);
  const insert = db.insertInto('sendings').columns(COLUMNS).expression(target);
  const inserted = statement(insert.onConflict((on) => on.doNothing()));
  return sending.error === undefined ? [inserted, queueSending(db, id, at)] : [inserted];
};

/** Builds the statement that adds the job of a message, if the message is stored. */
const queueSending = (db: Store['db'], id: string, at: string): Statement => {
  const job = db
    .selectFrom('sendings')
    .select((of) => [of.val(SENDING_JOB).as('kind'), 'id'])
    .select((of) => [of.fn.coalesce('channel_id', 'webhook_id').as('lane'), of.val(at).as('at')])
    .where('id', '=', id);
  return statement(
    db.insertInto('jobs').columns(['kind', 'ref', 'lane', 'run_at']).expression(job),
  );
};

/**
 * Builds the statements that queue a message again, once, if it ended with one of these statuses;
 * they throw Unmet otherwise. Its earlier attempts stay on record and count.
 */
export const sendAgain = (
  { store: { db }, clock }: { store: Store; clock: Clock },
  { id, from }: { id: string; from: SendingStatus[] },
): Statement[] => {
  const now = iso(clock.now());
  const requeued = db
    .updateTable('sendings')
    .set({ status: 'queued', next_at: now, finished_at: null })
    .set((of) => ({ resent_after: of.ref('attempts') }))
    .where('id', '=', id)
    .where('status', 'in', from);
  return [statement(requeued, 1), queueSending(db, id, now)];
};

/**
 * Builds the statement that drops the waiting jobs of a target that is deleted; its messages are
 * deleted with the target itself.
 */
export const dropWaiting = ({ db }: Pick<Store, 'db'>, lane: string): Statement =>
  statement(
    db
      .deleteFrom('jobs')
      .where('lane', '=', lane)
      .where('boot', 'is', null)
      .where('kind', '=', SENDING_JOB),
  );

const COLUMNS = [
  'id',
  'user_id',
  'channel_id',
  'webhook_id',
  'cause_id',
  'kind',
  'content',
  'hops',
  'status',
  'next_at',
  'error',
  'finished_at',
  'created_at',
] as const;
