import type { Queue } from '../jobs/module.js';
import { MAX_HOPS } from '../kernel/hops.js';
import type { DeliveryRow, ExecutionRow } from '../store/tables/hooks.js';
import { noticeOutcome } from './actions.js';
import { greetingReason } from './greet.js';
import { type OpenedHook, openedHook } from './hook.js';
import type { IncomingDelivery, PrepareEnd } from './inbound/accept.js';
import type { Payload } from './inbound/payload.js';
import { type OutcomeDeps, prepareRunEnd } from './outcome.js';
import { renderNoticeText } from './render.js';
import { cacheParsed, countRunHops, type HookRun } from './run.js';

interface PrepareDeps extends OutcomeDeps {
  queue: Queue;
}

/** In characters. Longer payloads are not parsed before they are accepted. */
const MAX_LENGTH = 64 * 1024;
/** With this many pending database calls, deliveries take precedence and executions are queued. */
const MAX_PENDING = 1000;

/**
 * Returns null if the execution must be queued: it is more than a notification, a rule may stop it,
 * earlier executions are queued, or an outgoing webhook wants the event.
 */
export const createInlinePreparer = (deps: PrepareDeps): PrepareEnd => {
  const { store, queue, outbound } = deps;

  const isPlain = (hook: OpenedHook, payload: Payload): boolean =>
    hook.action === 'notify' &&
    hook.conditions.length === 0 &&
    hook.cooldownMs === 0 &&
    hook.maxExecutions === null &&
    payload.text.length <= MAX_LENGTH &&
    payload.value !== undefined &&
    queue.isEmpty(hook.id) &&
    store.pending() < MAX_PENDING &&
    !outbound.subscriptions.wants(hook.userId, 'hook.executed');

  return ({ row }, executionId, of) => {
    const { text } = of.payload;
    if (!row || typeof text !== 'string' || !isPlain(openedHook(row), of.payload)) return null;
    if (greetingReason(openedHook(row), of) !== null) return null;
    const run = runOfComing(openedHook(row), executionId, { ...of, text });
    if (countRunHops(run) >= MAX_HOPS) return null;
    const { end, published } = prepareRunEnd(deps, run, noticeOutcome(run, renderNoticeText(run)));
    const [notice] = end.notices;
    if (!notice) return null;
    return { end: [row.updated_at, end.execution.result ?? '', notice], published };
  };
};

type TextDelivery = IncomingDelivery & { text: string };

const runOfComing = (hook: OpenedHook, executionId: string, coming: TextDelivery): HookRun => {
  const { id, at, headers, query, payload } = coming;
  const execution: ExecutionRow = {
    id: executionId,
    hook_id: hook.id,
    user_id: hook.userId,
    delivery_id: id,
    trigger: hook.trigger,
    action: hook.action,
    context: null,
    status: 'queued',
    effect: 'none',
    result: null,
    error: null,
    attempts: 1,
    agent_id: null,
    replay_of: null,
    hops: 0,
    created_at: at,
    started_at: null,
    finished_at: null,
    run_at: null,
    boot: null,
  };
  const delivery = deliveryOfComing(coming);
  cacheParsed(delivery, { body: payload.value, headers, query });
  return { isSuspended: false, execution, hook, delivery };
};

const deliveryOfComing = ({ id, path, text, event, at }: TextDelivery): DeliveryRow => ({
  id,
  path,
  method: 'POST',
  headers: '',
  body: text,
  query: null,
  event,
  sender_id: null,
  received_at: at,
});
