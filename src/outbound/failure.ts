import { type Clock, iso } from '../kernel/clock.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import { requeueMessage } from './messages.js';
import type { Outbox } from './outbox.js';

export interface UndeliveredDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toApp'>;
}

/** Accepted by a platform and later reported as undeliverable. */
export interface Undelivered {
  channelId: string;
  /** Channel name for the owner, such as `whatsapp`. */
  target: string;
  /** Message id of the platform. */
  receipt: string;
  error: string;
}

/**
 * Notifies the owner each time, because a user must act. Ignores repeated reports and unknown
 * messages.
 */
export const reportUndelivered = async (
  { store, clock, outbox }: UndeliveredDeps,
  failed: Undelivered,
): Promise<void> => {
  const message = await findSent(store, failed);
  if (!message) return;
  const { target, error } = failed;
  const change = store.db
    .updateTable('sendings')
    .set({ status: 'failed', error, finished_at: iso(clock.now()) })
    .where('id', '=', message.id)
    .where('status', '=', 'sent');
  const notice = outbox.toApp(message.user_id, {
    kind: 'delivery_failed',
    title: `${target}: a message could not be delivered`,
    body: `"${message.kind}" was accepted but not delivered: ${error}`,
    link: '/api/channels',
    effectId: `${message.id} bounced ${message.attempts}`,
  });
  const isTold = await isCommitted(store.transact([statement(change, 1), ...notice.statements]));
  if (isTold) notice.published();
};

/**
 * Only if it was sent until that time. Its parts did not arrive and are forgotten. False if there
 * is none.
 */
export const requeueUndelivered = async (
  { store, clock }: UndeliveredDeps,
  failed: Undelivered,
  until: string,
): Promise<boolean> => {
  const message = await findSent(store, failed);
  if (!message?.finished_at || message.finished_at > until) return false;
  const { id } = message;
  const parts = store.db.deleteFrom('sending_parts').where('sending_id', '=', id);
  const again = requeueMessage({ store, clock }, { id, from: ['sent'] });
  return isCommitted(store.transact([...again, statement(parts)]));
};

const findSent = ({ db }: Store, { channelId, receipt }: Undelivered) => {
  const parts = db.selectFrom('sending_parts').select('sending_id');
  return db
    .selectFrom('sendings')
    .select(['id', 'user_id', 'kind', 'attempts', 'finished_at'])
    .where('channel_id', '=', channelId)
    .where('status', '=', 'sent')
    .where((of) =>
      of.or([of('receipt', '=', receipt), of('id', 'in', parts.where('receipt', '=', receipt))]),
    )
    .executeTakeFirst();
};
