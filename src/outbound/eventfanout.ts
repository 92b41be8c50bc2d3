import { type JobHandler, type Queue, removeJob } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { procedureStep, type Store } from '../store/store.js';
import type { NewOutgoingEvent, OutgoingEventRow } from '../store/tables/outbox.js';
import { visibleTo } from '../store/visible.js';
import { fanOut } from './fanout.js';
import { DISABLED, type NewOutboundMessage } from './messages.js';
import type { QueuedMessage } from './outbox.js';

export const EVENT_JOB = 'event';

type EventType =
  | 'agent.completed'
  | 'agent.failed'
  | 'hook.executed'
  | 'hook.failed'
  | 'approval.requested'
  | 'task.completed'
  | 'pipeline.finished';

/** In characters. `links` lead to the full text. */
export const MAX_IN_EVENT_LENGTH = 2000;

export interface OutgoingEvent {
  type: EventType;
  data: Record<string, unknown>;
  /** Constant over retries, so that a duplicate is stored once. */
  effectId?: string;
  /** How often the cause passed through this daemon. */
  hops?: number | undefined;
}

/** Part of the transaction of the cause. */
export type ToWebhooks = (userId: string, event: OutgoingEvent) => QueuedMessage;

export interface EventDeps {
  store: Store;
  clock: Clock;
  queue: Pick<Queue, 'added'>;
}

export const storedEvent = (
  clock: Clock,
  userId: string,
  { type, data, effectId, hops = 0 }: OutgoingEvent,
): NewOutgoingEvent => {
  const now = clock.now();
  return {
    id: mint('event', now),
    user_id: userId,
    type,
    data: JSON.stringify(data),
    effect_id: effectId ?? null,
    hops,
    created_at: iso(now),
  };
};

/** Inserts only if an enabled webhook subscribes to the type. */
export const createToWebhooks =
  ({ clock }: { clock: Clock }): ToWebhooks =>
  (userId, event) => ({
    statements: [procedureStep('postEvent', storedEvent(clock, userId, event))],
    published: () => undefined,
  });

export const createEventFanout = (deps: EventDeps): JobHandler => ({
  run: async (job) => {
    const event = await findEvent(deps.store, job.ref);
    await fanOut(deps, job, event ? await buildEventMessages(deps.store, event) : []);
    return null;
  },
  abandon: async (job) => {
    await deps.store.transact([removeJob(deps.store, job.id)]);
  },
});

const buildEventMessages = async (
  { db }: Store,
  event: OutgoingEventRow,
): Promise<NewOutboundMessage[]> => {
  const { id: causeId, user_id: userId, type: kind, created_at: timestamp, hops } = event;
  const known: Record<string, number> = JSON.parse(event.webhooks);
  const webhooks = await db
    .selectFrom('webhooks')
    .select(['id', 'enabled', 'disabled_count'])
    .where(visibleTo(userId))
    .where('id', 'in', Object.keys(known))
    .orderBy('id')
    .execute();
  const content = { type: kind, timestamp, data: JSON.parse(event.data) };
  return webhooks.map(({ id: webhookId, enabled, disabled_count: count }) => {
    const isEnded = (enabled === 0 || count !== known[webhookId]) && { error: DISABLED };
    return { userId, target: { webhookId }, causeId, kind, content, hops, ...isEnded };
  });
};

/** null if the event is gone or its owner is disabled. */
const findEvent = async ({ db }: Store, id: string): Promise<OutgoingEventRow | null> => {
  const row = await db
    .selectFrom('outgoing_events as e')
    .innerJoin('users as u', 'u.id', 'e.user_id')
    .select(['e.id', 'e.user_id', 'e.type', 'e.data', 'e.effect_id', 'e.hops'])
    .select(['e.created_at', 'e.webhooks'])
    .where('e.id', '=', id)
    .where('u.disabled_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
};
