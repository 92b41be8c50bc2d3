import type { WebhookRow } from '../../store/tables/outbox.js';

type Subscription = Pick<WebhookRow, 'id' | 'user_id' | 'events' | 'enabled' | 'updated_at'>;

/**
 * The subscriptions of all users, so that an event that no webhook wants costs nothing. The
 * database decides: it is queried again when the event is sent on.
 */
export interface Subscriptions {
  wants(userId: string, type: string): boolean;
  /** Sets the events that a webhook wants. Of two simultaneous changes the later one stays. */
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

/** True if a list of event types includes this one. */
const isAmong = (events: string[], type: string): boolean =>
  events.includes(type) || events.includes('*');
