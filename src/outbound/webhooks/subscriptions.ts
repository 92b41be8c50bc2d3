import type { WebhookRow } from '../../store/tables/outbox.js';

type Subscription = Pick<
  WebhookRow,
  'id' | 'user_id' | 'events' | 'enabled' | 'updated_at' | 'rate_per_minute'
>;

/**
 * Creates the subscriptions of all users, so that an event that no webhook wants costs nothing. The
 * database decides: it is queried again when the event is sent on.
 */
export const createSubscriptions = () => {
  const byUser = new Map<string, Map<string, { events: string[]; updatedAt: string }>>();
  const rated = new Set<string>();
  return {
    wants: (userId: string, type: string): boolean =>
      [...(byUser.get(userId)?.values() ?? [])].some(
        ({ events }) => events.includes(type) || events.includes('*'),
      ),
    /** Sets the events that a webhook wants. Of two simultaneous changes the later one stays. */
    put: (webhook: Subscription): void => {
      const { id, user_id, events, enabled, updated_at: updatedAt } = webhook;
      const webhooks = byUser.get(user_id) ?? new Map();
      const known = webhooks.get(id);
      if (known && known.updatedAt > updatedAt) return;
      webhooks.set(id, { events: enabled === 1 ? JSON.parse(events) : [], updatedAt });
      byUser.set(user_id, webhooks);
      if (webhook.rate_per_minute === null) rated.delete(id);
      else rated.add(id);
    },
    /** True if the webhook has a rate of its own. */
    isRated: (id: string): boolean => rated.has(id),
    remove: (userId: string, id: string): void => {
      rated.delete(id);
      const webhooks = byUser.get(userId);
      webhooks?.delete(id);
      if (webhooks?.size === 0) byUser.delete(userId);
    },
  };
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;
