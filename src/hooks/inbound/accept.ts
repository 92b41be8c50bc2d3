import { hash } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Log } from '../../kernel/log.js';
import type { RunTask } from '../../kernel/pool.js';
import type { Headers } from '../../kernel/signature.js';
import type { Hub } from '../../realtime/module.js';
import type { Store } from '../../store/store.js';
import type { InlineEnd } from '../procedures/accept.js';
import type { Senders } from '../senders/senders.js';
import type { Backlog } from './backlog.js';
import type { VerifiedHook } from './candidates.js';
import { deliveryEvent, proofName, readSenderId, storedHeaders } from './headers.js';
import type { Payload, readLargePayload } from './payload.js';
import type { verifyHookProofs } from './proof.js';
import { filterQuery, type Query } from './query.js';
import type { Directory, ReceivingHook } from './receivinghooks.js';
import { createSecretFilter } from './redactheaders.js';

/** `digest`: SHA-256 of the body in hex, if already computed. */
export type ParsedPayload = Payload & { digest?: string };

export interface InboundRequestBody {
  path: string;
  headers: Headers;
  body: Buffer;
  /** As received, with the query. */
  url: string;
  query: Query;
}

export type AcceptResult =
  | { verdict: 'none_enabled'; verified?: VerifiedHook[] }
  | { verdict: 'duplicate'; deliveryId: string }
  | { verdict: 'accepted'; deliveryId: string; executions: string[] };

export interface IncomingDelivery {
  id: string;
  at: string;
  path: string;
  headers: Record<string, string>;
  query: Query | null;
  payload: Payload;
  event: string | null;
}

interface PreparedReadyEnd {
  end: InlineEnd;
  published(): void;
}

/** Returns null if the execution must be queued. */
export type PrepareEnd = (
  hook: ReceivingHook,
  executionId: string,
  delivery: IncomingDelivery,
) => PreparedReadyEnd | null;

/**
 * Stores a delivery once per signature scheme. Its ID and event name come from what the scheme
 * signs, so one scheme cannot name deliveries of another.
 */
export const createAccept = (deps: InboxDeps) => {
  const { store, clock } = deps;

  const acceptBy = async (
    firing: VerifiedHook[],
    { path, headers, body, query }: InboundRequestBody,
    payload: ParsedPayload,
  ): Promise<AcceptResult> => {
    const now = clock.now();
    const id = mint('delivery', now);
    const { by = 'secret', digest = null } = firing[0] ?? {};
    const senderId = readSenderId(by, headers, payload);
    const event = deliveryEvent(by, headers, payload);
    const at = iso(now);
    const unkept = createSecretFilter(firing, deps.directory.onPath(path));
    const kept = storedHeaders(headers, unkept);
    const storedQuery = filterQuery(query, unkept.holdsSecret);
    const delivery = { id, at, path, headers: kept, query: storedQuery, payload, event };
    const row = [id, at, path, 'POST', JSON.stringify(kept), payload.text, event] as const;
    const runs = firing.map((one) => {
      const executionId = mint('execution', now);
      return { ...one, id: executionId, ready: deps.prepare(one.hook, executionId, delivery) };
    });
    const [fired, duplicateOf, ended] = await store.call('acceptDelivery', [
      [...row, storedQuery && JSON.stringify(storedQuery)],
      senderId === null
        ? null
        : [senderId, digest ?? payload.digest ?? hash('sha256', body, 'hex')],
      runs.map((run) => [run.hook.id, run.id, run.usedOldSecret, run.ready?.end ?? null]),
    ]);
    deps.queue.accepted();
    for (const { hook } of firing) if (hook.credentialId) deps.used(hook.credentialId);
    const begun = fired.flatMap((index) => runs[index] ?? []);
    tell(begun, event, at);
    for (const index of ended) runs[index]?.ready?.published();
    for (const index of fired) {
      const run = runs[index];
      if (run && !ended.includes(index)) deps.queue.added(run.hook.id);
    }
    if (begun.length > 0) {
      return { verdict: 'accepted', deliveryId: id, executions: begun.map((run) => run.id) };
    }
    if (duplicateOf !== null) return { verdict: 'duplicate', deliveryId: duplicateOf };
    return { verdict: 'none_enabled' };
  };

  const tell = (
    begun: { hook: ReceivingHook; id: string }[],
    event: string | null,
    at: string,
  ): void => {
    for (const { hook, id } of begun) {
      deps.hub.publish(hook.userId, 'hook.execution', {
        id,
        hookId: hook.id,
        hookName: hook.name,
        event,
        action: hook.action,
        agentId: null,
        status: 'queued',
        error: null,
        at,
      });
    }
  };

  return async (
    firing: VerifiedHook[],
    arrival: InboundRequestBody,
    payload: ParsedPayload,
  ): Promise<AcceptResult> => {
    const schemes = new Set(firing.map(({ by }) => proofName(by)));
    if (schemes.size < 2) return acceptBy(firing, arrival, payload);
    const accepted = [...schemes].map((scheme) =>
      acceptBy(
        firing.filter(({ by }) => proofName(by) === scheme),
        arrival,
        payload,
      ),
    );
    return joined(await Promise.all(accepted));
  };
};

/** The ID is that of the first delivery that fired a hook, otherwise that of the duplicate. */
const joined = (each: AcceptResult[]): AcceptResult => {
  const begun = each.filter((one) => one.verdict === 'accepted');
  const [first] = begun;
  if (first) return { ...first, executions: begun.flatMap(({ executions }) => executions) };
  return each.find(({ verdict }) => verdict === 'duplicate') ?? { verdict: 'none_enabled' };
};

export interface InboxDeps {
  store: Store;
  clock: Clock;
  log: Log;
  directory: Directory;
  queue: Backlog;
  hub: Hub;
  prepare: PrepareEnd;
  senders: Senders;
  apart: RunTask<{ read: typeof readLargePayload; prove: typeof verifyHookProofs }>;
  used(credentialId: string): void;
}
