import type { Queue, QueueDeps } from './jobs/queue.js';
import { type Carriers, createCarriers } from './outbox/carrier.js';
import { createOutbox, type Outbox, type OutboxDeps } from './outbox/outbox.js';
import { handleOutgoing, openOutgoing } from './outbox/outgoing.js';
import { createPolicy } from './outbox/policy.js';
import { createStorms, type Storms } from './outbox/storm.js';
import { createWebhooks, type Webhooks, type WebhooksDeps } from './webhooks/webhooks.js';

/** What tells the owner and whoever else wants to know, and what takes it to the targets. */
export interface Leaving extends Webhooks {
  /** Of what leaves: a slow target holds up no hook and no agent. */
  outgoing: Queue;
  carriers: Carriers;
  outbox: Outbox;
  storms: Storms;
}

export interface LeavingDeps
  extends Omit<WebhooksDeps, 'outbox' | 'carriers' | 'queue' | 'openSecret'>,
    Omit<OutboxDeps, 'queue'>,
    Pick<QueueDeps, 'log'> {
  openWebhookSecret: WebhooksDeps['openSecret'];
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
