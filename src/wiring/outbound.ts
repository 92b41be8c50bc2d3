import type { Queue, QueueDeps } from '../jobs/queue.js';
import { createStorms, type Storms } from '../outbound/digests.js';
import { handleOutgoing, openOutgoing } from '../outbound/handlers.js';
import { createOutbox, type Outbox, type OutboxDeps } from '../outbound/outbox.js';
import { createPolicy } from '../outbound/policy.js';
import { type Carriers, createCarriers } from '../outbound/transport.js';
import {
  createWebhooks,
  type OutgoingWebhooksDeps,
  type Webhooks,
} from '../outbound/webhooks/outgoing.js';

/** What tells the owner and whoever else wants to know, and what takes it to the targets. */
export interface Leaving extends Webhooks {
  /** Of what leaves: a slow target holds up no hook and no agent. */
  outgoing: Queue;
  carriers: Carriers;
  outbox: Outbox;
  storms: Storms;
}

export interface LeavingDeps
  extends Omit<OutgoingWebhooksDeps, 'outbox' | 'carriers' | 'queue' | 'openSecret'>,
    Omit<OutboxDeps, 'queue'>,
    Pick<QueueDeps, 'log'> {
  openWebhookSecret: OutgoingWebhooksDeps['openSecret'];
  settings: Pick<QueueDeps, 'boot'>;
}

export const createLeaving = (deps: LeavingDeps): Leaving => {
  const carriers = createCarriers();
  const { queue, pulse } = openOutgoing({ ...deps, ...deps.settings, carriers });
  const outbox = createOutbox({ ...deps, queue });
  handleOutgoing({ ...deps, queue, pulse, carriers, outbox, policy: createPolicy(deps) });
  const openSecret = deps.openWebhookSecret;
  const webhooks = createWebhooks({ ...deps, openSecret, outbox, carriers, queue });
  const storms = createStorms({ ...deps, queue, carriers });
  return { outgoing: queue, carriers, outbox, storms, ...webhooks };
};
