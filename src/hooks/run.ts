import { parseExact } from '../kernel/exactjson.js';
import { hopsIn } from '../kernel/hops.js';
import { unsharedText } from '../kernel/sharedtext.js';
import type { Headers } from '../kernel/signature.js';
import { selectRows } from '../store/rows.js';
import type { Store } from '../store/store.js';
import {
  type ClaimedExecution,
  deliveryTable,
  type ExecutionRow,
  executionTable,
  hookTable,
  type LoadedDelivery,
} from '../store/tables/hooks.js';
import { type OpenedHook, openedHook, suspendedAt } from './hook.js';
import { readHeaderEvent } from './inbound/headers.js';
import type { TemplateScope } from './template.js';

export interface HookRun {
  isSuspended: boolean;
  execution: ExecutionRow;
  hook: OpenedHook;
  delivery: LoadedDelivery | null;
}

export interface TriggerEvent {
  event: string;
  agent?: TemplateScope['agent'];
  scheduledAt?: string;
  approval?: TemplateScope['approval'];
  email?: TemplateScope['email'];
}

export const loadRun = async ({ db }: Store, executionId: string): Promise<HookRun | null> => {
  const execution = await selectRows(db, executionTable, { id: executionId }).executeTakeFirst();
  if (!execution) return null;
  const [hook, delivery] = await Promise.all([
    db
      .selectFrom('hooks')
      .select(hookTable.columns)
      .select(suspendedAt)
      .where('id', '=', execution.hook_id)
      .executeTakeFirst(),
    execution.delivery_id === null
      ? undefined
      : selectRows(db, deliveryTable, { id: execution.delivery_id }).executeTakeFirst(),
  ]);
  return hook ? createHookRun({ execution, hook, delivery: delivery ?? null }) : null;
};

export const createHookRun = ({ execution, hook, delivery }: ClaimedExecution): HookRun => ({
  isSuspended: hook.suspended_at !== null,
  execution,
  hook: openedHook(hook),
  delivery,
});

/** A hook may be deleted, or an execution stopped, at any time. */
export const isUnderway = (run: HookRun | null): run is HookRun =>
  run !== null && isOpen(run.execution);

export const isOpen = ({ status }: Pick<ExecutionRow, 'status'>): boolean =>
  status === 'queued' || status === 'running';

interface ParsedDelivery {
  headers: Record<string, string>;
  query: Record<string, string> | null;
  body: unknown;
}

type KeptDelivery = Partial<ParsedDelivery> & { text?: string };

const parsed = new WeakMap<LoadedDelivery, KeptDelivery>();

/** Keeps parsed JSON as long as the row is in use. */
export const cacheParsed = (delivery: LoadedDelivery, json: ParsedDelivery): void => {
  parsed.set(delivery, json);
};

const getParseCache = (delivery: LoadedDelivery): KeptDelivery => {
  const kept = parsed.get(delivery) ?? {};
  parsed.set(delivery, kept);
  return kept;
};

export const getDeliveryHeaders = (delivery: LoadedDelivery): ParsedDelivery['headers'] => {
  const kept = getParseCache(delivery);
  const headers: ParsedDelivery['headers'] = kept.headers ?? JSON.parse(delivery.headers);
  kept.headers = headers;
  return headers;
};

const getDeliveryText = (delivery: LoadedDelivery): string => {
  const kept = getParseCache(delivery);
  kept.text ??= unsharedText(delivery.body);
  return kept.text;
};

const getDeliveryBody = (delivery: LoadedDelivery): unknown => {
  const kept = getParseCache(delivery);
  if (!('body' in kept)) kept.body = parseExact(getDeliveryText(delivery));
  return kept.body;
};

const getDeliveryQuery = (delivery: LoadedDelivery): Record<string, string> => {
  const kept = getParseCache(delivery);
  kept.query ??= JSON.parse(delivery.query ?? '{}');
  return kept.query ?? {};
};

export const templateScope = ({ execution, hook, delivery }: HookRun): TemplateScope => {
  const fired = firedBy(execution);
  return {
    hook: { name: hook.name },
    event: delivery ? delivery.event : (fired.event ?? null),
    ...(fired.agent && { agent: fired.agent }),
    ...(fired.approval && { approval: fired.approval }),
    ...(fired.email && { email: fired.email }),
    ...(delivery && {
      webhook: {
        body: getDeliveryBody(delivery),
        headers: getDeliveryHeaders(delivery),
        query: getDeliveryQuery(delivery),
        path: delivery.path,
        method: delivery.method,
      },
    }),
  };
};

/** The body, exactly as received if it was JSON, or the data of the trigger. */
const getRunPayload = ({ execution, delivery }: HookRun): string =>
  delivery ? getDeliveryText(delivery) : (execution.context ?? '{}');

/** Does not read payloads in shared memory. */
export const payloadLength = ({ execution, delivery }: HookRun): number =>
  (delivery?.body ?? execution.context ?? '').length;

/** Text and XML are stored as a JSON string. */
export const isText = (run: HookRun): boolean => getRunPayload(run).startsWith('"');

/** Text and XML as received, otherwise JSON. An e-mail without its wrapper. */
export const formatRunPayload = (run: HookRun): string => {
  if (isText(run) && run.delivery) return String(getDeliveryBody(run.delivery));
  const { email } = run.delivery ? {} : firedBy(run.execution);
  return email ? JSON.stringify(email) : getRunPayload(run);
};

export const runEvent = ({ execution, delivery }: HookRun): string | null =>
  delivery ? delivery.event : (firedBy(execution).event ?? null);

/**
 * Only an event name from a header (spec: Webhooks, rule 7) or from a test. A signed name takes
 * precedence.
 */
export const getPromptEvent = (run: HookRun): string | null => {
  const headers: Headers = run.delivery ? getDeliveryHeaders(run.delivery) : {};
  // A request from outside always has headers.
  const isTrial = Object.keys(headers).length === 0;
  return isTrial || readHeaderEvent(headers) !== null ? runEvent(run) : null;
};

/** How often the trigger has passed through this daemon. A manual replay starts at 0. */
export const countRunHops = ({ execution, delivery }: HookRun): number => {
  if (execution.replay_of !== null) return 0;
  return Math.max(execution.hops, delivery ? hopsIn(getDeliveryHeaders(delivery)) : 0);
};

export const firedBy = ({ context }: Pick<ExecutionRow, 'context'>): Partial<TriggerEvent> =>
  context === null ? {} : JSON.parse(context);
