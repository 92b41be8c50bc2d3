import type { WebhookRow } from '../../store/tables/outbox.js';

type Subscription = Pick<WebhookRow, 'id' | 'user_id' | 'events' | 'enabled' | 'updated_at'>;

/**
 * Who wants to hear of what, so that an event that nobody wants costs nothing. The database stays
 * the judge: it is asked when the event is sent on.
 */
export interface Subscriptions {
  wants(userId: string, type: string): boolean;
  /** What a webhook wants from now on. Of two changes at once the later one stays. */
  put(webhook: Subscription): void;
  remove(userId: string, id: string): void;
}

interface WebhookFilter {
  events: string[];
  updatedAt: string;
}

export const createSubscriptions = (): Subscriptions => {
  const byUser = new Map<string, Map<string, WebhookFilter>>();
  return {
    wants: (userId, type) =>
      [...(byUser.get(userId)?.values() ?? [])].some(({ events }) => isAmong(events, type)),
    put: ({ id, user_id, events, enabled, updated_at: updatedAt }) => {
      const webhooks = byUser.get(user_id) ?? new Map<string, WebhookFilter>();
      const known = webhooks.get(id);
      if (known && known.updatedAt > updatedAt) return;
      webhooks.set(id, { events: enabled === 1 ? JSON.parse(events) : [], updatedAt });
      byUser.set(user_id, webhooks);
    },
    remove: (userId, id) => {
      const webhooks = byUser.get(userId);
      webhooks?.delete(id);
      if (webhooks?.size === 0) byUser.delete(userId);
    },
  };
};

/** Whether a list of event types names this one. */
const isAmong = (events: string[], type: string): boolean =>
  events.includes(type) || events.includes('*');
