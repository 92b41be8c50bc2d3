import { createToWebhooks, type EventDeps, type ToWebhooks } from '../eventfanout.js';
import { type Carriers, ENDPOINT } from '../transport.js';
import { onlyWanted } from './filter.js';
import { webhookColumnNames } from './row.js';
import { createSubscriptions, type Subscriptions } from './subscriptions.js';
import { createEndpointCarrier, type EndpointDeps } from './transport.js';

/** What of outgoing webhooks lives longer than a request. */
export interface Webhooks {
  subscriptions: Subscriptions;
  toWebhooks: ToWebhooks;
  /** Reads who wants what. */
  startWebhooks(): Promise<void>;
}

export interface OutgoingWebhooksDeps extends Omit<EndpointDeps, 'subscriptions'>, EventDeps {
  carriers: Carriers;
}

export const createWebhooks = (deps: OutgoingWebhooksDeps): Webhooks => {
  const { store, carriers } = deps;
  const subscriptions = createSubscriptions();
  const toWebhooks = onlyWanted(subscriptions, createToWebhooks(deps));
  carriers.put(ENDPOINT, createEndpointCarrier({ ...deps, subscriptions }));
  return {
    subscriptions,
    toWebhooks,
    startWebhooks: async () => {
      const webhooks = await store.db.selectFrom('webhooks').select(webhookColumnNames).execute();
      for (const webhook of webhooks) subscriptions.put(webhook);
    },
  };
};
