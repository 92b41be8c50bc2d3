import { type Clock, iso } from '../../kernel/clock.js';
import type { Statement } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { WebhookRow } from '../../store/tables/outbox.js';
import { DISABLED, dropWaiting, MESSAGE_JOB } from '../messages.js';
import type { Outbox, QueuedMessage } from '../outbox.js';
import type { Subscriptions } from './subscriptions.js';

export interface DisablingDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toOwner'>;
  subscriptions: Subscriptions;
}

/**
 * Builds the statements that disable a webhook whose endpoint is gone or has failed for too long,
 * and notify its owner once, even if two deliveries find it out at the same moment.
 */
export const disableWebhook = (
  deps: DisablingDeps,
  webhook: WebhookRow,
  reason: string,
): QueuedMessage => {
  const { store, clock, outbox, subscriptions } = deps;
  const at = iso(clock.now());
  const change = { enabled: 0, disabled_reason: reason, disabled_at: at, updated_at: at };
  const disabled = store.db
    .updateTable('webhooks')
    .set(change)
    .where('id', '=', webhook.id)
    .where('enabled', '=', 1);
  const posting = outbox.toOwner(webhook.user_id, {
    kind: 'webhook_disabled',
    title: `${webhook.name}: disabled`,
    body: `${reason}. What waited for it was not sent: enable it, then resend what you need.`,
    link: `/api/webhooks/${webhook.id}`,
    effectId: `${webhook.id}:disabled:${webhook.updated_at}`,
  });
  return {
    statements: [
      statement(disabled),
      ...endWaiting(store, webhook.id, change.updated_at),
      ...posting.statements,
    ],
    published: () => {
      subscriptions.put({ ...webhook, ...change });
      posting.published();
    },
  };
};

/**
 * Builds the statements that end the waiting messages of a disabled webhook. Ours: they fail and
 * can be sent again, because otherwise they would arrive in a flood days later. An attempt under
 * way ends by itself.
 */
export const endWaiting = ({ db }: Store, webhookId: string, at: string): Statement[] => {
  const waiting = db
    .selectFrom('jobs')
    .select('ref')
    .where('lane', '=', webhookId)
    .where('boot', 'is', null)
    .where('kind', '=', MESSAGE_JOB);
  const ended = db
    .updateTable('sendings')
    .set({ status: 'failed', error: DISABLED, next_at: null, finished_at: at })
    .where('webhook_id', '=', webhookId)
    .where('id', 'in', waiting);
  return [statement(ended), dropWaiting({ db }, webhookId)];
};
