import { createToWebhooks, type EventDeps, type ToWebhooks } from '../eventfanout.js';
import { ENDPOINT, type Transports } from '../transport.js';
import { onlyWanted } from './filter.js';
import { webhookColumnNames } from './row.js';
import { createSubscriptions, type Subscriptions } from './subscriptions.js';
import { createEndpointTransport, type EndpointDeps } from './transport.js';

/** The parts of outgoing webhooks that live longer than a request. */
export interface Webhooks {
  subscriptions: Subscriptions;
  toWebhooks: ToWebhooks;
  /** Loads the subscriptions. */
  startWebhooks(): Promise<void>;
}

export interface OutgoingWebhooksDeps extends Omit<EndpointDeps, 'subscriptions'>, EventDeps {
  transports: Transports;
}

export const createWebhooks = (deps: OutgoingWebhooksDeps): Webhooks => {
  const { store, transports } = deps;
  const subscriptions = createSubscriptions();
  const toWebhooks = onlyWanted(subscriptions, createToWebhooks(deps));
  transports.put(ENDPOINT, createEndpointTransport({ ...deps, subscriptions }));
  return {
    subscriptions,
    toWebhooks,
    startWebhooks: async () => {
      const webhooks = await store.db.selectFrom('webhooks').select(webhookColumnNames).execute();
      for (const webhook of webhooks) subscriptions.put(webhook);
    },
  };
};
