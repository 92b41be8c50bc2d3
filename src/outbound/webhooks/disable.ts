import { type Clock, iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import type { Statement } from '../../store/engine/protocol.js';
import { changeInSteps } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import { DISABLED, MESSAGE_JOB } from '../messages.js';
import type { Outbox, QueuedMessage } from '../outbox.js';
import type { Subscriptions } from './subscriptions.js';

export interface DisablingDeps {
  store: Store;
  clock: Clock;
  log: Log;
  outbox: Pick<Outbox, 'toOwner'>;
  subscriptions: Subscriptions;
}

/** Notifies the owner once, even if two deliveries detect it at the same time. */
export const disableWebhook = (
  deps: DisablingDeps,
  webhook: WebhookRow,
  reason: string,
): QueuedMessage => {
  const { store, clock, log, outbox, subscriptions } = deps;
  const at = iso(clock.now());
  const change = { enabled: 0, disabled_reason: reason, updated_at: at };
  const disabled = store.db
    .updateTable('webhooks')
    .set((of) => ({ ...change, disabled_count: of('disabled_count', '+', 1) }))
    .where('id', '=', webhook.id)
    .where('enabled', '=', 1);
  const posting = outbox.toOwner(webhook.user_id, {
    kind: 'webhook_disabled',
    title: `${webhook.name}: disabled`,
    body: `${reason}. Queued messages were not sent. Enable the webhook, then resend them if needed.`,
    link: `/api/webhooks/${webhook.id}`,
    effectId: `${webhook.id}:disabled:${webhook.updated_at}`,
  });
  return {
    statements: [statement(disabled), ...endSomeWaiting(webhook.id, at), ...posting.statements],
    published: () => {
      subscriptions.put({ ...webhook, ...change });
      posting.published();
      endWaiting(store, webhook.id, at).catch((err) =>
        log.warn(
          { err },
          'could not end the queued deliveries of a disabled webhook; they end when due',
        ),
      );
    },
  };
};

/** Rows per transaction: about 5 ms of the writer thread. */
const STEP = 500;
const WAITING = `FROM jobs WHERE lane = @webhookId AND boot IS NULL AND kind = '${MESSAGE_JOB}'
  AND (SELECT enabled FROM webhooks WHERE id = @webhookId) = 0 ORDER BY id LIMIT ${STEP}`;
const END_STEP = [
  `UPDATE sendings SET status = 'failed', error = @error, next_at = NULL, finished_at = @at
    WHERE webhook_id = @webhookId AND id IN (SELECT ref ${WAITING})`,
  `DELETE FROM jobs WHERE id IN (SELECT id ${WAITING})`,
];

/**
 * They fail and can be resent; otherwise they would arrive in a flood days later. A running attempt
 * ends by itself.
 */
export const endSomeWaiting = (webhookId: string, at: string): Statement[] =>
  END_STEP.map((sql) => ({ sql, parameters: [{ webhookId, at, error: DISABLED }] }));

/**
 * In steps between other writes. After a crash the rest ends when due, or before the webhook is
 * enabled.
 */
export const endWaiting = async (store: Store, webhookId: string, at: string): Promise<void> => {
  await changeInSteps(store, endSomeWaiting(webhookId, at), { step: STEP });
};
