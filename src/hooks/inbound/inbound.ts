import { createSecretKey } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { LARGE_JSON_BYTES } from '../../kernel/json.js';
import type { RunTask } from '../../kernel/pool.js';
import { isSame, isSigned } from '../../kernel/signature.js';
import type { Hub } from '../../realtime/module.js';
import type { VerifyingKey } from '../../secrets/module.js';
import type { Store } from '../../store/store.js';
import {
  type AcceptResult,
  createAccept,
  type InboundRequestBody,
  type PrepareEnd,
  type ReadPayload,
  type VerifiedHook,
} from './accept.js';
import type { Backlog } from './backlog.js';
import { secretHeaders } from './headers.js';
import { type readLargePayload, readPayload } from './payload.js';
import type { Precedence } from './precedence.js';
import { type ProofInput, proofsOf, type SignatureProof } from './proof.js';
import type { Directory, ReceivingHook } from './receivinghooks.js';

/** The outcome of an inbound request; the receiver builds its reply from it. */
export type InboundVerdict =
  | { verdict: 'unknown' | 'refused' | 'not_json_type' | 'not_json' | 'busy' }
  | AcceptResult;

/** The outcome, or a promise of it. A refusal is known at once, unless the body is large. */
export type Receiving = InboundVerdict | Promise<InboundVerdict>;

export interface InboxDeps {
  store: Store;
  clock: Clock;
  directory: Directory;
  queue: Backlog;
  hub: Hub;
  prepare: PrepareEnd;
  precedence: Precedence;
  /** Runs a task in a worker thread, for bodies over 128 KiB. */
  apart: RunTask<{ read: typeof readLargePayload; prove: typeof proofsOf }>;
  /** Records that a credential verified a request. */
  used(credentialId: string): void;
}

/**
 * The number of hooks that a worker thread tries at once, so that others get their turn in between.
 */
const PROVEN_AT_ONCE = 16;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Creates the inbox. It handles a request from the socket to the database: no 2xx is sent before
 * the delivery's fsync.
 */
export const createInbox = (deps: InboxDeps) => {
  const { clock, directory } = deps;
  const accept = createAccept(deps);
  const decoy: CandidateHook = { hook: null, secrets: [DECOY] };

  const take = (verified: VerifiedHook[], arrival: InboundRequestBody): Receiving => {
    const type = arrival.headers['content-type'];
    if (type !== undefined && !JSON_TYPE.test(type)) return { verdict: 'not_json_type' };
    const { body } = arrival;
    if (body.length <= LARGE_JSON_BYTES) return enter(verified, arrival, readPayload(body));
    const reading = deps.apart(ownersOf(verified), 'read', body);
    return reading.then((payload) => enter(verified, arrival, payload));
  };

  const enter = (
    verified: VerifiedHook[],
    arrival: InboundRequestBody,
    payload: ReadPayload | null,
  ): Receiving => {
    if (!payload) return { verdict: 'not_json' };
    const firing = verified.filter(({ hook }) => hook.isEnabled);
    if (firing.length === 0) return { verdict: 'none_enabled' };
    const isFull = deps.queue.isFull(firing.map(({ hook }) => hook));
    return isFull ? { verdict: 'busy' } : accept(firing, arrival, payload);
  };

  /** Returns for each hook the proof that verifies the request, or null. */
  const proofsFor = (
    candidates: CandidateHook[],
    arrival: InboundRequestBody,
  ): MaybePromise<(SignatureProof | null)[]> => {
    const { headers, body } = arrival;
    const keys = candidates.map(({ secrets }) => secrets.map(({ key }) => key));
    const input = { headers, body, now: clock.now() };
    if (body.length <= LARGE_JSON_BYTES) return proofsOf({ ...input, keys });
    return proveApart(deps.apart, `to ${ownersOf(candidates)}`, { ...input, keys });
  };

  const decide = (
    candidates: CandidateHook[],
    proofs: (SignatureProof | null)[],
    arrival: InboundRequestBody,
  ) => {
    const verified = verifiedOf(candidates, proofs);
    return verified.length === 0 ? refusedBy(candidates) : take(verified, arrival);
  };

  return {
    /**
     * Handles `POST /api/webhooks/{path}`: fires every hook on the path whose own secret verifies
     * the body.
     */
    byPath: (path: string, arrival: InboundRequestBody): Receiving => {
      const candidates = candidatesOf(directory.onPath(path), clock.now());
      if (!isSigned(arrival.headers)) return refusedBy(candidates);
      const tried = candidates.length === 0 ? [decoy] : candidates;
      const proofs = proofsFor(tried, arrival);
      if (!(proofs instanceof Promise)) return decide(candidates, proofs, arrival);
      return proofs.then((found) => decide(candidates, found, arrival));
    },
    /**
     * Handles `POST /api/hooks/incoming/{hookId}`: fires that hook if the request carries its
     * secret.
     */
    byHook: (hookId: string, arrival: Omit<InboundRequestBody, 'path'>): Receiving => {
      const hook = directory.byId(hookId);
      if (!hook) return { verdict: 'unknown' };
      const given = secretHeaders(arrival.headers);
      const [{ secrets } = decoy] = candidatesOf([hook], clock.now());
      const secret = secrets.find(({ key }) => given.some((each) => isSame(key.export(), each)));
      if (!secret) return { verdict: 'refused' };
      const verified: VerifiedHook = { hook, usedOldSecret: secret.isOld, by: 'secret' };
      return take([verified], { ...arrival, path: hook.path ?? '' });
    },
  };
};

export type Inbox = ReturnType<typeof createInbox>;

type MaybePromise<T> = T | Promise<T>;

/** A hook and its keys that are valid now. */
interface CandidateHook {
  /**
   * The hook; null if there is none, and the work is done only to keep the response time the same.
   */
  hook: ReceivingHook | null;
  secrets: VerifyingKey[];
}

const DECOY: VerifyingKey = {
  key: createSecretKey(Buffer.alloc(32, 1)),
  until: null,
  isOld: false,
};

const candidatesOf = (hooks: ReceivingHook[], now: number): CandidateHook[] =>
  hooks.map((hook) => ({
    hook,
    secrets: hook.secrets.filter(({ until }) => until === null || until > now),
  }));

const refusedBy = (candidates: CandidateHook[]): InboundVerdict => ({
  verdict: candidates.length === 0 ? 'unknown' : 'refused',
});

const verifiedOf = (
  candidates: CandidateHook[],
  proofs: (SignatureProof | null)[],
): VerifiedHook[] =>
  candidates.flatMap(({ hook, secrets }, index) => {
    const proof = proofs[index];
    if (!hook || !proof) return [];
    return [{ hook, usedOldSecret: secrets[proof.at]?.isOld === true, by: proof.scheme }];
  });

/**
 * Returns the key under which worker threads are shared out: the user who owns the hooks, on
 * however many paths they are. Requests from outside get a turn of their own, so that they do not
 * delay what the owner does.
 */
const ownersOf = (of: { hook: ReceivingHook | null }[]): string =>
  [...new Set(of.map(({ hook }) => hook?.userId ?? 'nobody'))].sort().join(' ');

/** Verifies the request in a worker thread, for a few hooks at a time. */
const proveApart = async (
  apart: RunTask<{ prove: typeof proofsOf }>,
  asker: string,
  { keys, body, ...input }: ProofInput,
): Promise<(SignatureProof | null)[]> => {
  // The body is copied once, into memory that all threads can read.
  const shared = new Uint8Array(new SharedArrayBuffer(body.length));
  shared.set(body);
  const proofs: (SignatureProof | null)[] = [];
  for (let at = 0; at < keys.length; at += PROVEN_AT_ONCE) {
    const some = keys.slice(at, at + PROVEN_AT_ONCE);
    proofs.push(...(await apart(asker, 'prove', { ...input, body: shared, keys: some })));
  }
  return proofs;
};
