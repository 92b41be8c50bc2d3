import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { SendingStatus } from '../store/tables/outbox.js';

export const SENDING_JOB = 'sending';

/** One message to one target. */
export interface NewSending {
  userId: string;
  target: { channelId: string } | { webhookId: string };
  /** The notification or the outgoing event that it tells of: once to each target. */
  causeId: string;
  kind: string;
  content: unknown;
  /** How often its cause came back to this daemon. */
  hops?: number;
}

/** Jobs of one target wait in a lane of their own. */
export const laneOf = ({ target }: Pick<NewSending, 'target'>): string =>
  'channelId' in target ? target.channelId : target.webhookId;

/**
 * The sending and its job; nothing where the target was told of that cause before. Whose target it
 * is was looked up in another transaction, so neither comes about where it is gone since.
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
      of.val('queued').as('status'),
      of.val(at).as('next_at'),
      of.val(at).as('at'),
    ])
    .where('user_id', '=', sending.userId)
    .where('id', '=', lane);
  const insert = db.insertInto('sendings').columns(COLUMNS).expression(target);
  const job = db
    .selectFrom('sendings')
    .select((of) => [of.val(SENDING_JOB).as('kind'), 'id'])
    .select((of) => [of.val(lane).as('lane'), of.val(at).as('run_at')])
    .where('id', '=', id);
  const queued = db.insertInto('jobs').columns(['kind', 'ref', 'lane', 'run_at']).expression(job);
  return [statement(insert.onConflict((on) => on.doNothing())), statement(queued)];
};

/**
 * A sending that has ended in one of these ways goes again, once: Unmet where it has not. Its
 * attempts before stay on record and count.
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
  const job = db
    .selectFrom('sendings')
    .select((of) => [of.val(SENDING_JOB).as('kind'), 'id'])
    .select((of) => [of.fn.coalesce('channel_id', 'webhook_id').as('lane'), of.val(now).as('at')])
    .where('id', '=', id);
  const queued = db.insertInto('jobs').columns(['kind', 'ref', 'lane', 'run_at']).expression(job);
  return [statement(requeued, 1), statement(queued, 1)];
};

/** What waits to be sent to a target that goes; its sendings go with the target itself. */
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
  'created_at',
] as const;
