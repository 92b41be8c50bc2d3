import { type BodyFault, isBodyFault } from '../../kernel/bodytext.js';
import { LARGE_JSON_BYTES } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { RunTask } from '../../kernel/pool.js';
import { type Headers, isSame, isSigned } from '../../kernel/signature.js';
import type { HandshakeReply } from '../senders/handshakes.js';
import type { SnsProof } from '../senders/sns.js';
import {
  type AcceptResult,
  createAccept,
  type InboundRequestBody,
  type InboxDeps,
  type ParsedPayload,
} from './accept.js';
import { fittingHooks, parseContentEncoding, typeRefusal } from './bodyform.js';
import {
  type CandidateHook,
  DECOY,
  exportCandidateSecrets,
  keysOfHook,
  selectVerifiedHooks,
  signsAddress,
  type VerifiedHook,
  validCandidates,
} from './candidates.js';
import { secretHeaders } from './headers.js';
import { readPayload } from './payload.js';
import { type HookProof, type ProofInput, verifyHookProofs } from './proof.js';
import { type Query, secretParameter } from './query.js';
import type { ReceivingHook } from './receivinghooks.js';

export type InboundVerdict =
  | { verdict: 'unknown' | 'refused' | 'secret_in_query' }
  /** Not stored, although these hooks verified it. */
  | { verdict: 'busy'; verified: VerifiedHook[] }
  | { verdict: 'wrong_type' | 'encoded'; verified: VerifiedHook[]; message: string }
  | { verdict: 'unreadable'; verified: VerifiedHook[]; fault: BodyFault }
  | HandshakeReply
  | AcceptResult;

/** A rejection is synchronous unless the body is large. */
export type Receiving = InboundVerdict | Promise<InboundVerdict>;

/** Hooks verified per task of a worker thread, so that other users get their turn in between. */
const HOOKS_PER_TASK = 16;
/** No 2xx is sent before the fsync of the delivery. */
export const createInbox = (deps: InboxDeps) => {
  const { clock, directory, senders } = deps;
  const accept = createAccept(deps);

  const take = (verified: VerifiedHook[], arrival: InboundRequestBody): Receiving => {
    const { body, headers } = arrival;
    const encoding = parseContentEncoding(headers);
    if (encoding !== null) return { verdict: 'encoded', verified, message: compressed(encoding) };
    const found = fittingHooks(verified, headers['content-type']);
    if (!found)
      return { verdict: 'wrong_type', verified, message: refusalOfType(verified, headers) };
    const { reading, fitting } = found;
    if (body.length <= LARGE_JSON_BYTES) return enter(fitting, arrival, readPayload(body, reading));
    return deps
      .apart(formatOwnersKey(fitting), 'read', { bytes: body, ...reading })
      .then((payload) => enter(fitting, arrival, payload));
  };

  const enter = (
    verified: VerifiedHook[],
    arrival: InboundRequestBody,
    payload: ParsedPayload | BodyFault,
  ): Receiving => {
    if (isBodyFault(payload)) return { verdict: 'unreadable', verified, fault: payload };
    const firing = verified.filter(({ hook }) => hook.isEnabled);
    if (firing.length === 0) return { verdict: 'none_enabled', verified };
    const isFull = deps.queue.isFull(firing.map(({ hook }) => hook));
    return isFull ? { verdict: 'busy', verified: firing } : accept(firing, arrival, payload);
  };

  const proofsFor = (
    candidates: CandidateHook[],
    { headers, body, url }: InboundRequestBody,
    sns: SnsProof | null,
  ): MaybePromise<HookProof[]> => {
    const hooks = candidates.map(keysOfHook);
    const address = hooks.some(signsAddress) ? senders.addressOf(url) : null;
    const input = { hooks, headers, body, url: address, sns, now: clock.now() };
    if (body.length <= LARGE_JSON_BYTES) return verifyHookProofs(input);
    return proveApart(deps.apart, `to ${formatOwnersKey(candidates)}`, input);
  };

  const decide = (
    candidates: CandidateHook[],
    proofs: HookProof[],
    arrival: InboundRequestBody,
  ): Receiving => {
    logFaults(deps.log, candidates, proofs);
    const verified = selectVerifiedHooks(candidates, proofs);
    if (verified.length === 0) return rejectedBy(candidates);
    const handshakeHook = verified.find(({ hook }) => hook.sender?.recipe.handshake !== undefined);
    if (!handshakeHook) return take(verified, arrival);
    return senders
      .answer(handshakeHook, arrival.body)
      .then((reply) => reply ?? take(verified, arrival));
  };

  const prove = (
    candidates: CandidateHook[],
    arrival: InboundRequestBody,
    sns: SnsProof | null,
  ): Receiving => {
    const tried = candidates.length === 0 ? [DECOY] : candidates;
    const proofs = proofsFor(tried, arrival, sns);
    if (!(proofs instanceof Promise)) return decide(candidates, proofs, arrival);
    return proofs.then((found) => decide(candidates, found, arrival));
  };

  /** Only a request that no hook verifies can be an unsigned handshake. */
  const judge = (candidates: CandidateHook[], arrival: InboundRequestBody): Receiving => {
    const orHandshake = (found: InboundVerdict): InboundVerdict =>
      (found.verdict === 'refused' && senders.unsigned(candidates, arrival)) || found;
    const proving = senders.snsProof(candidates, arrival.body);
    const found = proving
      ? proving.then((sns) => prove(candidates, arrival, sns))
      : prove(candidates, arrival, null);
    return found instanceof Promise ? found.then(orHandshake) : orHandshake(found);
  };

  return {
    /**
     * `POST /api/webhooks/{path}`: fires every hook on the path whose own secret verifies the body.
     */
    byPath: (path: string, arrival: InboundRequestBody): Receiving => {
      const all = validCandidates(directory.onPath(path), clock.now());
      const candidates = acceptingQuery(all, arrival.query);
      if (all.length > 0 && candidates.length === 0) return SECRET_IN_QUERY;
      if (candidates.some(({ hook }) => hook?.sender)) return judge(candidates, arrival);
      return isSigned(arrival.headers) ? prove(candidates, arrival, null) : rejectedBy(candidates);
    },
    /**
     * `POST /api/hooks/incoming/{hookId}`: fires the hook if the request carries its secret. With
     * `verify`, only the signature of the sender counts.
     */
    byHook: (hookId: string, arrival: Omit<InboundRequestBody, 'path'>): Receiving => {
      const hook = directory.byId(hookId);
      if (!hook) return { verdict: 'unknown' };
      const coming = { ...arrival, path: hook.path ?? '' };
      const candidates = acceptingQuery(validCandidates([hook], clock.now()), coming.query);
      if (candidates.length === 0) return SECRET_IN_QUERY;
      if (hook.sender) return judge(candidates, coming);
      const given = secretHeaders(arrival.headers);
      const [{ secrets } = DECOY] = candidates;
      const secret = secrets.find(({ key }) => given.some((each) => isSame(key.export(), each)));
      if (!secret) return { verdict: 'refused' };
      const { key, isOld } = secret;
      return take([{ hook, usedOldSecret: isOld, key, by: 'secret', digest: null }], coming);
    },
    /**
     * WebSub handshake: the token must be the secret of a hook on the path. A public key does not
     * count.
     */
    challenge: (path: string, token: string): 'unknown' | 'refused' | 'handshake' => {
      const candidates = validCandidates(directory.onPath(path), clock.now());
      if (candidates.length === 0) return 'unknown';
      const keys = candidates.flatMap(exportCandidateSecrets);
      const given = Buffer.from(token);
      return keys.filter((key) => isSame(key, given)).length > 0 ? 'handshake' : 'refused';
    },
  };
};

export type Inbox = ReturnType<typeof createInbox>;

type MaybePromise<T> = T | Promise<T>;

/**
 * Fair-queue key of the worker threads: the owners of the hooks. Requests from outside have a lane
 * of their own, so that they do not delay work of the owners.
 */
const formatOwnersKey = (of: { hook: ReceivingHook | null }[]): string =>
  [...new Set(of.map(({ hook }) => hook?.userId ?? 'nobody'))].sort().join(' ');

const proveApart = async (
  apart: RunTask<{ prove: typeof verifyHookProofs }>,
  asker: string,
  { hooks, ...input }: ProofInput,
): Promise<HookProof[]> => {
  const proofs: HookProof[] = [];
  for (let at = 0; at < hooks.length; at += HOOKS_PER_TASK) {
    const some = hooks.slice(at, at + HOOKS_PER_TASK);
    proofs.push(...(await apart(asker, 'prove', { ...input, hooks: some })));
  }
  return proofs;
};

const logFaults = (log: Log, candidates: CandidateHook[], proofs: HookProof[]): void => {
  for (const [at, proof] of proofs.entries()) {
    if (!proof || !('fault' in proof)) continue;
    const hookId = candidates[at]?.hook?.id;
    log.error({ hookId, fault: proof.fault }, 'failed to verify a request for a hook');
  }
};

const compressed = (encoding: string): string =>
  `The body is compressed (Content-Encoding: ${encoding}). Send the body without compression`;

const refusalOfType = ([verified]: VerifiedHook[], headers: Headers): string =>
  verified ? typeRefusal(verified.hook, headers) : '';

const SECRET_IN_QUERY: InboundVerdict = { verdict: 'secret_in_query' };

/**
 * With a possible secret in the query, only hooks whose senders sign the URL accept the request.
 */
const acceptingQuery = (candidates: CandidateHook[], query: Query): CandidateHook[] =>
  secretParameter(query) === null
    ? candidates
    : candidates.filter((candidate) => signsAddress(keysOfHook(candidate)));

const rejectedBy = (candidates: CandidateHook[]): InboundVerdict => ({
  verdict: candidates.length === 0 ? 'unknown' : 'refused',
});
