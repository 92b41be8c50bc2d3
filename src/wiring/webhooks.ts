import type { Resource } from '../kernel/route.js';
import { webhooksResource } from '../resources/webhooks/routes.js';
import { webhooksStore } from '../resources/webhooks/store.js';
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
