import type { Base } from '../base.js';
import { createQueue } from '../jobs/module.js';
import type { Operations } from '../operations/module.js';
import type { Hub } from '../realtime/module.js';
import type { Secrets } from '../secrets/module.js';
import { type NewOutgoingEvent, webhookTable } from '../store/tables/outbox.js';
import type { VaultModule } from '../vault/module.js';
import { createDigests } from './digests.js';
import {
  createEventFanout,
  createToWebhooks,
  EVENT_JOB,
  type OutgoingEvent,
  storedEvent,
} from './eventfanout.js';
import { createNoticeFanout } from './fanout.js';
import { outboxStore } from './messages/queries.js';
import { outboxResource } from './messages/routes.js';
import { MESSAGE_JOB } from './messages.js';
import { notificationsStore } from './notifications/queries.js';
import { notificationsResource } from './notifications/routes.js';
import { createOutbox, EMPTY_POSTING, NOTICE_JOB, type QueuedMessage } from './outbox.js';
import { createPolicy } from './policy.js';
import { createRates } from './rates.js';
import { createReminders } from './reminders.js';
import { undeliveredStore } from './resends/queries.js';
import { resendsResource } from './resends/routes.js';
import { resendOperation } from './resends/service.js';
import { createSender } from './send.js';
import { createTargetHealth } from './targethealth.js';
import { createTransports, ENDPOINT } from './transport.js';
import { webhooksStore } from './webhooks/queries.js';
import { webhooksResource } from './webhooks/routes.js';
import { createSubscriptions } from './webhooks/subscriptions.js';
import { createEndpointTransport } from './webhooks/transport.js';

export { MAX_IN_EVENT_LENGTH, type OutgoingEvent } from './eventfanout.js';
export { reportUndelivered, requeueUndelivered, type UndeliveredDeps } from './failure.js';
export {
  addOutboundMessage,
  dropWaiting,
  getMessageLane,
  laneOfMessage,
  type NewOutboundMessage,
  requeueMessage,
} from './messages.js';
export { isNeverDelayed } from './noticekinds.js';
export { markAnsweredAsRead } from './notifications/answers.js';
export {
  EMPTY_POSTING,
  type Notice,
  type Outbox,
  type PreparedNotice,
  type QueuedMessage,
} from './outbox.js';
export { readTaskPreferences, type TaskPreferences } from './preferences.js';
export { reportOutbox } from './statistics.js';
export { REPLY, type SendResult, type Transport } from './transport.js';
export { post } from './webhooks/post.js';

export interface OutboundDeps {
  hub: Hub;
  operations: Operations;
  vault: VaultModule;
  secrets: Secrets;
}

/** Messages mostly wait for replies, so many at once cost little. */
const CONCURRENCY = 512;
/** Share for targets without a good reply yet. */
const MAX_UNPROVEN = 256;

export const openOutbound = (base: Base, { hub, operations, vault, secrets }: OutboundDeps) => {
  const { store, clock, log, http, boot } = base;
  const { sealSecret, openSecret, headers } = secrets.sealers.webhooks;
  const transports = createTransports();
  const targetHealth = createTargetHealth();
  const subscriptions = createSubscriptions();
  const queue = createQueue({
    store,
    clock,
    log,
    boot,
    concurrency: CONCURRENCY,
    // One at a time with a rate, so that Retry-After applies to all.
    limitOf: (lane) => (subscriptions.isRated(lane) ? 1 : targetHealth.limitOf(lane)),
    targets: transports.targets,
    slowLanes: { isDoubtful: targetHealth.isDoubtful, most: MAX_UNPROVEN },
  });
  const rates = createRates(clock);
  const outbox = createOutbox({ store, clock, hub });
  const policy = createPolicy(base);
  queue.handle(NOTICE_JOB, createNoticeFanout({ store, clock, queue, policy }));
  queue.handle(EVENT_JOB, createEventFanout({ store, clock, queue }));
  queue.handle(
    MESSAGE_JOB,
    createSender({ store, clock, queue, rates, outbox, transports, targetHealth }),
  );
  const endpoint = {
    store,
    clock,
    log,
    http,
    outbox,
    subscriptions,
    openSecret,
    headers,
    vault: vault.vault,
  };
  transports.put(ENDPOINT, createEndpointTransport(endpoint));
  const toWebhooks = createToWebhooks({ clock });
  const webhooks = webhooksStore({ store, clock });
  const undelivered = undeliveredStore(store);
  const resending = { store, clock, outgoing: queue, undelivered };
  const resendsTo = {
    toWebhooks: operations.register(resendOperation('webhooks.resend', resending)),
    toChannels: operations.register(resendOperation('outbox.resend', resending)),
  };
  store.whenQueued((lanes) => {
    for (const lane of lanes) queue.added(lane);
  });
  /** A manual resend overrides the pause after failures. */
  const resent = (lane: string): void => {
    queue.rest(lane, 0);
    queue.added(lane);
  };
  return {
    resent,
    /** Separate queue, so that a slow target delays no hook or agent. */
    queue,
    transports,
    outbox,
    subscriptions,
    /** Events without subscribers cost neither a statement nor a job. */
    toWebhooks: (userId: string, event: OutgoingEvent): QueuedMessage =>
      subscriptions.wants(userId, event.type) ? toWebhooks(userId, event) : EMPTY_POSTING,
    storedEvent: (userId: string, event: OutgoingEvent): NewOutgoingEvent | null =>
      subscriptions.wants(userId, event.type) ? storedEvent(clock, userId, event) : null,
    digests: createDigests({ store, clock, log, queue }),
    reminders: createReminders({ store, clock, outbox, usage: vault.usage }),
    load: async (): Promise<void> => {
      const webhooks = await store.db.selectFrom('webhooks').select(webhookTable.columns).execute();
      for (const webhook of webhooks) subscriptions.put(webhook);
    },
    forget: subscriptions.remove,
    resources: () => ({
      webhooks: webhooksResource({
        clock,
        http,
        webhooks,
        subscriptions,
        outgoing: queue,
        vault: vault.vault,
        sealSecret,
        openSecret,
        headers,
      }),
      notifications: notificationsResource({ notifications: notificationsStore(store), clock }),
      outbox: outboxResource({ messages: outboxStore(base), resent }),
      resends: resendsResource({ store, clock, webhooks, undelivered, ...resendsTo }),
    }),
  };
};

export type Outbound = ReturnType<typeof openOutbound>;
