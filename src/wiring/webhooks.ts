import type { Resource } from '../kernel/route.js';
import { webhooksStore } from '../outbound/webhooks/queries.js';
import { webhooksResource } from '../outbound/webhooks/routes.js';
import type { Parts } from './parts.js';

/** The outgoing ones. */
export const webhookResources = (parts: Parts): Resource[] => {
  const { clock, store, runtime, secrets, http } = parts;
  return [
    webhooksResource({
      ...{ ...runtime, ...secrets.webhooks, clock, http },
      webhooks: webhooksStore({ store, clock }),
      checkUrl: http.check,
    }),
  ];
};
