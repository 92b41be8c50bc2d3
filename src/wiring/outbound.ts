import type { Queue, QueueDeps } from '../jobs/queue.js';
import { createDigests, type Digests } from '../outbound/digests.js';
import { handleOutgoing, openOutgoing } from '../outbound/handlers.js';
import { createOutbox, type Outbox, type OutboxDeps } from '../outbound/outbox.js';
import { createPolicy } from '../outbound/policy.js';
import { createTransports, type Transports } from '../outbound/transport.js';
import {
  createWebhooks,
  type OutgoingWebhooksDeps,
  type Webhooks,
} from '../outbound/webhooks/outgoing.js';

/** The outbound messages to owners and webhooks, with the transports to their targets. */
export interface Outbound extends Webhooks {
  /** The queue of outbound messages, so that a slow target delays no hook and no agent. */
  outgoing: Queue;
  transports: Transports;
  outbox: Outbox;
  digests: Digests;
}

export interface OutboundDeps
  extends Omit<OutgoingWebhooksDeps, 'outbox' | 'transports' | 'queue' | 'openSecret'>,
    Omit<OutboxDeps, 'queue'>,
    Pick<QueueDeps, 'log'> {
  openWebhookSecret: OutgoingWebhooksDeps['openSecret'];
  settings: Pick<QueueDeps, 'boot'>;
}

export const createOutbound = (deps: OutboundDeps): Outbound => {
  const transports = createTransports();
  const { queue, pulse } = openOutgoing({ ...deps, ...deps.settings, transports });
  const outbox = createOutbox({ ...deps, queue });
  handleOutgoing({ ...deps, queue, pulse, transports, outbox, policy: createPolicy(deps) });
  const openSecret = deps.openWebhookSecret;
  const webhooks = createWebhooks({ ...deps, openSecret, outbox, transports, queue });
  const digests = createDigests({ ...deps, queue, transports });
  return { outgoing: queue, transports, outbox, digests, ...webhooks };
};
