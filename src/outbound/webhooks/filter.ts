import type { ToWebhooks } from '../eventfanout.js';
import type { Posting } from '../outbox.js';
import type { Subscriptions } from './subscriptions.js';

/** The posting that sends nothing. */
export const NOTHING: Posting = { statements: [], published: () => undefined };

/** Skips events that no webhook wants, so that they cost neither a statement nor a job. */
export const onlyWanted =
  (subscriptions: Subscriptions, toWebhooks: ToWebhooks): ToWebhooks =>
  (userId, event) =>
    subscriptions.wants(userId, event.type) ? toWebhooks(userId, event) : NOTHING;
