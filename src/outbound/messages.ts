import { sql } from 'kysely';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { MessageStatus, OutboundMessageRow } from '../store/tables/outbox.js';
import { visibleTo } from '../store/visible.js';

export const MESSAGE_JOB = 'sending';
export const DISABLED = 'The webhook is disabled. Enable the webhook, then resend this message';

export interface NewOutboundMessage {
  userId: string;
  target: { channelId: string } | { webhookId: string } | { hookId: string; object: string | null };
  /** Notification, event or execution. One message per target and cause. */
  causeId: string;
  kind: string;
  content: unknown;
  /** How often the cause passed through this daemon. */
  hops?: number;
  /** Set if the target was disabled after the cause: the message fails at once. */
  error?: string;
}

export const getMessageLane = ({ target }: Pick<NewOutboundMessage, 'target'>): string =>
  'channelId' in target
    ? target.channelId
    : 'hookId' in target
      ? `reply_${target.hookId}`
      : target.webhookId;

export const laneOfMessage = (
  row: Pick<OutboundMessageRow, 'channel_id' | 'webhook_id' | 'hook_id'>,
): string => row.channel_id ?? row.webhook_id ?? `reply_${row.hook_id}`;

/** Inserts nothing for a repeated cause or a deleted target. */
export const addOutboundMessage = (
  { store: { db }, clock }: { store: Store; clock: Clock },
  message: NewOutboundMessage,
): Statement[] => {
  const now = clock.now();
  const id = mint('sending', now);
  const at = iso(now);
  const columns: Partial<Record<'channelId' | 'webhookId' | 'hookId' | 'object', string | null>> =
    message.target;
  const { channelId = null, webhookId = null, hookId = null, object = null } = columns;
  const target = db
    .selectFrom(channelId !== null ? 'channels' : hookId !== null ? 'hooks' : 'webhooks')
    .select((of) => [
      of.val(id).as('new_id'),
      'user_id',
      of.val(channelId).as('channel_id'),
      of.val(webhookId).as('webhook_id'),
      of.val(hookId).as('hook_id'),
      of.val(object).as('object'),
      of.val(message.causeId).as('cause_id'),
      of.val(message.kind).as('kind'),
      of.val(JSON.stringify(message.content)).as('content'),
      of.val(message.hops ?? 0).as('hops'),
      of.val(message.error === undefined ? 'queued' : 'failed').as('status'),
      of.val(message.error === undefined ? at : null).as('next_at'),
      of.val(message.error ?? null).as('error'),
      of.val(message.error === undefined ? null : at).as('finished_at'),
      of.val(at).as('at'),
    ])
    .where(visibleTo(message.userId))
    .where('id', '=', channelId ?? hookId ?? webhookId);
  const insert = db.insertInto('sendings').columns(COLUMNS).expression(target);
  const inserted = statement(insert.onConflict((on) => on.doNothing()));
  return message.error === undefined ? [inserted, queueMessage(db, id, at)] : [inserted];
};

const queueMessage = (db: Store['db'], id: string, at: string): Statement => {
  const job = db
    .selectFrom('sendings')
    .select((of) => [of.val(MESSAGE_JOB).as('kind'), 'id'])
    .select((of) => [
      of.fn.coalesce('channel_id', 'webhook_id', sql<string>`'reply_' || hook_id`).as('lane'),
      of.val(at).as('at'),
    ])
    .where('id', '=', id);
  return statement(
    db.insertInto('jobs').columns(['kind', 'ref', 'lane', 'run_at']).expression(job),
  );
};

/** Throws Unmet for another status. Earlier attempts stay recorded and count. */
export const requeueMessage = (
  { store: { db }, clock }: { store: Store; clock: Clock },
  { id, from }: { id: string; from: MessageStatus[] },
): Statement[] => {
  const now = iso(clock.now());
  const requeued = db
    .updateTable('sendings')
    .set({ status: 'queued', next_at: now, finished_at: null })
    .set((of) => ({ resent_after: of.ref('attempts') }))
    .where('id', '=', id)
    .where('status', 'in', from);
  return [statement(requeued, 1), queueMessage(db, id, now)];
};

/** The messages are deleted with the target. */
export const dropWaiting = ({ db }: Pick<Store, 'db'>, lane: string): Statement =>
  statement(
    db
      .deleteFrom('jobs')
      .where('lane', '=', lane)
      .where('boot', 'is', null)
      .where('kind', '=', MESSAGE_JOB),
  );

const COLUMNS = [
  'id',
  'user_id',
  'channel_id',
  'webhook_id',
  'hook_id',
  'object',
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
