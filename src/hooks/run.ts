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
import { headerEventOf } from './inbound/headers.js';
import type { TemplateScope } from './template.js';

/** One execution of a hook, with the hook as it is now and the delivery that fired it. */
export interface HookRun {
  /** True if the owner's account is disabled; then nothing of the owner's runs. */
  isSuspended: boolean;
  execution: ExecutionRow;
  hook: OpenedHook;
  delivery: LoadedDelivery | null;
}

/** The trigger's data of a hook that was not fired by a delivery. */
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
  return hook ? runOf({ execution, hook, delivery: delivery ?? null }) : null;
};

/** Returns the run of an execution that was claimed with its hook and its delivery. */
export const runOf = ({ execution, hook, delivery }: ClaimedExecution): HookRun => ({
  isSuspended: hook.suspended_at !== null,
  execution,
  hook: openedHook(hook),
  delivery,
});

/**
 * True if the execution exists and has not ended. A hook may be deleted, or an execution stopped,
 * at any time.
 */
export const isUnderway = (run: HookRun | null): run is HookRun =>
  run !== null && isOpen(run.execution);

/** True if the execution has not ended. */
export const isOpen = ({ status }: Pick<ExecutionRow, 'status'>): boolean =>
  status === 'queued' || status === 'running';

/** The JSON of a delivery. */
interface ParsedDelivery {
  headers: Record<string, string>;
  query: Record<string, string> | null;
  body: unknown;
}

/** The JSON of a delivery and its body as text, as far as they were read. */
type KeptDelivery = Partial<ParsedDelivery> & { text?: string };

const parsed = new WeakMap<LoadedDelivery, KeptDelivery>();

/** Keeps the JSON of a delivery that is parsed already, as long as the row is in use. */
export const keepParsed = (delivery: LoadedDelivery, json: ParsedDelivery): void => {
  parsed.set(delivery, json);
};

/** Returns what is kept of the delivery's JSON, which is parsed once for each row object. */
const keptOf = (delivery: LoadedDelivery): KeptDelivery => {
  const kept = parsed.get(delivery) ?? {};
  parsed.set(delivery, kept);
  return kept;
};

/** Returns the headers of a delivery as they are kept. */
export const headersOf = (delivery: LoadedDelivery): ParsedDelivery['headers'] => {
  const kept = keptOf(delivery);
  const headers: ParsedDelivery['headers'] = kept.headers ?? JSON.parse(delivery.headers);
  kept.headers = headers;
  return headers;
};

const textOf = (delivery: LoadedDelivery): string => {
  const kept = keptOf(delivery);
  kept.text ??= unsharedText(delivery.body);
  return kept.text;
};

const bodyOf = (delivery: LoadedDelivery): unknown => {
  const kept = keptOf(delivery);
  if (!('body' in kept)) kept.body = parseExact(textOf(delivery));
  return kept.body;
};

const queryOf = (delivery: LoadedDelivery): Record<string, string> => {
  const kept = keptOf(delivery);
  kept.query ??= JSON.parse(delivery.query ?? '{}');
  return kept.query ?? {};
};

/** Returns the values that the templates and conditions of an execution may name. */
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
        body: bodyOf(delivery),
        headers: headersOf(delivery),
        query: queryOf(delivery),
        path: delivery.path,
        method: delivery.method,
      },
    }),
  };
};

/** Returns the payload as JSON: the body, exactly as received if it was JSON, or the trigger's data. */
const payloadOf = ({ execution, delivery }: HookRun): string =>
  delivery ? textOf(delivery) : (execution.context ?? '{}');

/** Returns the length of the payload, without reading one that is in memory of all threads. */
export const payloadLength = ({ execution, delivery }: HookRun): number =>
  (delivery?.body ?? execution.context ?? '').length;

/** True if the body was text or XML, which is kept as one JSON string. */
export const isText = (run: HookRun): boolean => payloadOf(run).startsWith('"');

/**
 * Returns the payload as a reader wants it: text and XML as they were received, else as JSON; of an
 * e-mail its facts alone.
 */
export const readableOf = (run: HookRun): string => {
  if (isText(run) && run.delivery) return String(bodyOf(run.delivery));
  const { email } = run.delivery ? {} : firedBy(run.execution);
  return email ? JSON.stringify(email) : payloadOf(run);
};

export const runEvent = ({ execution, delivery }: HookRun): string | null =>
  delivery ? delivery.event : (firedBy(execution).event ?? null);

/**
 * Returns the event that the prompt names: only one that a header gave (spec: Webhooks, rule 7), or
 * one that the user gave in a test. If the sender signed the event's name, the signed name is used.
 */
export const promptEventOf = (run: HookRun): string | null => {
  const headers: Headers = run.delivery ? headersOf(run.delivery) : {};
  // A request from outside always has headers.
  const isTrial = Object.keys(headers).length === 0;
  return isTrial || headerEventOf(headers) !== null ? runEvent(run) : null;
};

/**
 * Returns how often the cause of the execution came back to this daemon, according to the delivery
 * or the event. A replay by a person starts again at 0.
 */
export const hopsOf = ({ execution, delivery }: HookRun): number => {
  if (execution.replay_of !== null) return 0;
  return Math.max(execution.hops, delivery ? hopsIn(headersOf(delivery)) : 0);
};

export const firedBy = ({ context }: Pick<ExecutionRow, 'context'>): Partial<TriggerEvent> =>
  context === null ? {} : JSON.parse(context);
