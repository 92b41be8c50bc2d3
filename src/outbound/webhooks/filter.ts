import type { ToWebhooks } from '../eventfanout.js';
import type { Posting } from '../outbox.js';
import type { Subscriptions } from './subscriptions.js';

/** How nothing is told. */
export const NOTHING: Posting = { statements: [], published: () => undefined };

/** What nobody wants costs neither a statement nor a job. */
export const onlyWanted =
  (subscriptions: Subscriptions, toWebhooks: ToWebhooks): ToWebhooks =>
  (userId, event) =>
    subscriptions.wants(userId, event.type) ? toWebhooks(userId, event) : NOTHING;
