import { hopsIn } from '../kernel/loop.js';
import type { Headers } from '../kernel/signature.js';
import type { Store } from '../store/store.js';
import type { DeliveryRow, ExecutionRow } from '../store/tables/hooks.js';
import { hookColumnNames, hookOf, type OpenedHook, suspendedAt } from './hook.js';
import { headerEventOf } from './inbound/headers.js';
import type { TemplateScope } from './template.js';

/** One run of a hook: the execution, its hook as it is now, and what fired it. */
export interface HookRun {
  /** The owner's account is disabled: nothing of theirs runs. */
  isSuspended: boolean;
  execution: ExecutionRow;
  hook: OpenedHook;
  delivery: DeliveryRow | null;
}

/** What fired a hook that no delivery fired. */
export interface TriggerEvent {
  event: string;
  agent?: TemplateScope['agent'];
  scheduledAt?: string;
  approval?: TemplateScope['approval'];
}

export const executionColumnNames = [
  'id',
  'hook_id',
  'user_id',
  'delivery_id',
  'trigger',
  'action',
  'context',
  'status',
  'effect',
  'result',
  'error',
  'attempts',
  'agent_id',
  'replay_of',
  'hops',
  'created_at',
  'started_at',
  'finished_at',
] as const;

const deliveryColumns = [
  'id',
  'path',
  'method',
  'headers',
  'body',
  'event',
  'sender_id',
  'received_at',
] as const;

export const loadRun = async ({ db }: Store, executionId: string): Promise<HookRun | null> => {
  const execution = await db
    .selectFrom('executions')
    .select(executionColumnNames)
    .where('id', '=', executionId)
    .executeTakeFirst();
  if (!execution) return null;
  const [hook, delivery] = await Promise.all([
    db
      .selectFrom('hooks')
      .select(hookColumnNames)
      .select(suspendedAt)
      .where('id', '=', execution.hook_id)
      .executeTakeFirst(),
    execution.delivery_id === null
      ? undefined
      : db
          .selectFrom('deliveries')
          .select(deliveryColumns)
          .where('id', '=', execution.delivery_id)
          .executeTakeFirst(),
  ]);
  if (!hook) return null;
  const isSuspended = hook.suspended_at !== null;
  return { isSuspended, execution, hook: hookOf(hook), delivery: delivery ?? null };
};

/** Whether the run is there and has not ended: a hook may be deleted, or a run stopped, at any time. */
export const isUnderway = (run: HookRun | null): run is HookRun =>
  run !== null && ['queued', 'running'].includes(run.execution.status);

/** What the templates and conditions of a run may name. */
export const templateScope = ({ execution, hook, delivery }: HookRun): TemplateScope => {
  const fired = firedBy(execution);
  return {
    hook: { name: hook.name },
    event: delivery ? delivery.event : (fired.event ?? null),
    ...(fired.agent && { agent: fired.agent }),
    ...(fired.approval && { approval: fired.approval }),
    ...(delivery && {
      webhook: {
        body: JSON.parse(delivery.body),
        headers: JSON.parse(delivery.headers),
        path: delivery.path,
        method: delivery.method,
      },
    }),
  };
};

/** The payload as text: the body exactly as received, or what fired the hook as JSON. */
export const payloadOf = ({ execution, delivery }: HookRun): string =>
  delivery?.body ?? execution.context ?? '{}';

export const runEvent = ({ execution, delivery }: HookRun): string | null =>
  delivery ? delivery.event : (firedBy(execution).event ?? null);

/**
 * The event as the prompt says it: only where a header told one (spec: Webhooks, rule 7), or whoever
 * tried the hook. Where the sender signed the event's name, that is the one.
 */
export const toldEventOf = (run: HookRun): string | null => {
  const headers: Headers = JSON.parse(run.delivery?.headers ?? '{}');
  // Nothing comes over the wire without any.
  const isTrial = Object.keys(headers).length === 0;
  return isTrial || headerEventOf(headers) !== null ? runEvent(run) : null;
};

/**
 * How often what fired the run came back to this daemon, as the delivery or the event says. A person who
 * replays a run begins anew.
 */
export const hopsOf = ({ execution, delivery }: HookRun): number => {
  if (execution.replay_of !== null) return 0;
  return Math.max(execution.hops, hopsIn(JSON.parse(delivery?.headers ?? '{}')));
};

export const firedBy = ({ context }: Pick<ExecutionRow, 'context'>): Partial<TriggerEvent> =>
  context === null ? {} : JSON.parse(context);
