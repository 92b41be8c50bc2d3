import type { WebhookRow } from '../../store/tables/outbox.js';

type Subscription = Pick<
  WebhookRow,
  'id' | 'user_id' | 'events' | 'enabled' | 'updated_at' | 'rate_per_minute'
>;

/**
 * An event without subscribers costs nothing. The database is queried again when an event is sent.
 */
export const createSubscriptions = () => {
  const byUser = new Map<string, Map<string, { events: string[]; updatedAt: string }>>();
  const rated = new Set<string>();
  return {
    wants: (userId: string, type: string): boolean =>
      [...(byUser.get(userId)?.values() ?? [])].some(
        ({ events }) => events.includes(type) || events.includes('*'),
      ),
    /** The later of two concurrent changes wins. */
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
