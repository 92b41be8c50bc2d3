import { isUtf8 } from 'node:buffer';
import { createSecretKey, hash, type KeyObject } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { type Headers, isSame, isSigned, verifySignature } from '../../kernel/signature.js';
import type { Accepted } from '../../store/procedures/accept.js';
import type { Store } from '../../store/store.js';
import type { Directory, ReceivingHook } from '../hooks/directory.js';
import type { Queue } from '../jobs/queue.js';
import type { Hub } from '../realtime/hub.js';
import { eventOf, keptHeaders, secretsOf, senderIdOf } from './headers.js';
import { isPayload } from './payload.js';

export interface Arrival {
  path: string;
  headers: Headers;
  body: Buffer;
}

/** What became of an arrival; the receiver makes its answer from it. */
export type Reception =
  | { verdict: 'unknown' | 'refused' | 'not_json_type' | 'not_json' | 'busy' }
  | { verdict: 'none_enabled' }
  | { verdict: 'duplicate'; deliveryId: string }
  | { verdict: 'accepted'; deliveryId: string; executions: string[] };

export interface Inbox {
  /** `POST /api/webhooks/{path}`: every hook on the path whose own secret verifies the body. */
  byPath(path: string, arrival: Arrival): Promise<Reception>;
  /** `POST /api/hooks/incoming/{hookId}`: that hook, if the request carries its secret. */
  byHook(hookId: string, arrival: Omit<Arrival, 'path'>): Promise<Reception>;
}

export interface InboxDeps {
  store: Store;
  clock: Clock;
  directory: Directory;
  queue: Queue;
  hub: Hub;
  /** Notes that a credential verified something. */
  used(credentialId: string): void;
}

interface Verified {
  hook: ReceivingHook;
  usedOldSecret: boolean;
}

const WAITING_PER_HOOK = 100_000;
const WAITING_OVERALL = 1_000_000;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** From the wire to the database: nothing is answered with a 2xx before its fsync. */
export const createInbox = (deps: InboxDeps): Inbox => {
  const { store, clock, directory, queue } = deps;
  const decoy = createSecretKey(Buffer.alloc(32, 1));

  const take = async (verified: Verified[], arrival: Arrival): Promise<Reception> => {
    const { headers, body } = arrival;
    const type = headers['content-type'];
    if (type !== undefined && !JSON_TYPE.test(type)) return { verdict: 'not_json_type' };
    if (!isUtf8(body)) return { verdict: 'not_json' };
    const text = body.toString('utf8');
    if (!isPayload(text)) return { verdict: 'not_json' };
    const firing = verified.filter(({ hook }) => hook.isEnabled);
    if (firing.length === 0) return { verdict: 'none_enabled' };
    if (isFull(firing)) return { verdict: 'busy' };
    return accept(firing, arrival, text);
  };

  const isFull = (firing: Verified[]): boolean =>
    queue.totals().waiting >= WAITING_OVERALL ||
    firing.some(({ hook }) => queue.waiting(hook.id) >= WAITING_PER_HOOK);

  const accept = async (
    firing: Verified[],
    { path, headers, body }: Arrival,
    text: string,
  ): Promise<Reception> => {
    const now = clock.now();
    const id = mint('delivery', now);
    const senderId = senderIdOf(headers);
    const accepted = await store.call('acceptDelivery', {
      delivery: {
        id,
        path,
        method: 'POST',
        headers: JSON.stringify(keptHeaders(headers)),
        body: text,
        event: eventOf(headers),
        receivedAt: iso(now),
      },
      claim: senderId === null ? null : { senderId, bodyDigest: digestOf(body) },
      hooks: firing.map(({ hook, usedOldSecret }) => ({
        hookId: hook.id,
        executionId: mint('execution', now),
        usedOldSecret,
      })),
    });
    for (const { hook } of firing) if (hook.credentialId) deps.used(hook.credentialId);
    tell(accepted, firing, headers, iso(now));
    return describe(accepted, id);
  };

  /** The queue, and those who follow live. */
  const tell = (
    { executions }: Accepted,
    firing: Verified[],
    headers: Headers,
    at: string,
  ): void => {
    for (const { hookId, executionId } of executions) {
      queue.added(hookId);
      const hook = firing.find((one) => one.hook.id === hookId)?.hook;
      if (!hook) continue;
      deps.hub.publish(hook.userId, 'hook.execution', {
        id: executionId,
        hookId,
        hookName: hook.name,
        event: eventOf(headers),
        action: hook.action,
        agentId: null,
        status: 'queued',
        error: null,
        at,
      });
    }
  };

  const describe = ({ executions, duplicateOf }: Accepted, deliveryId: string): Reception => {
    if (executions.length > 0) {
      const ids = executions.map(({ executionId }) => executionId);
      return { verdict: 'accepted', deliveryId, executions: ids };
    }
    if (duplicateOf !== null) return { verdict: 'duplicate', deliveryId: duplicateOf };
    return { verdict: 'none_enabled' };
  };

  const verify = (hooks: ReceivingHook[], proves: (key: KeyObject) => boolean): Verified[] => {
    const now = clock.now();
    const verified: Verified[] = [];
    for (const hook of hooks) {
      const secret = hook.secrets.find(
        ({ key, until }) => (until === null || until > now) && proves(key),
      );
      if (secret) verified.push({ hook, usedOldSecret: secret.isOld });
    }
    return verified;
  };

  return {
    byPath: async (path, arrival) => {
      const proves = (key: KeyObject): boolean =>
        verifySignature(key, arrival.body, arrival.headers, clock.now());
      const hooks = directory.onPath(path);
      if (hooks.length === 0) {
        if (isSigned(arrival.headers)) proves(decoy);
        return { verdict: 'unknown' };
      }
      const verified = verify(hooks, proves);
      return verified.length === 0 ? { verdict: 'refused' } : take(verified, arrival);
    },
    byHook: async (hookId, arrival) => {
      const hook = directory.byId(hookId);
      if (!hook) return { verdict: 'unknown' };
      const given = secretsOf(arrival.headers);
      const verified = verify([hook], (key) => given.some((each) => isSame(key.export(), each)));
      if (verified.length === 0) return { verdict: 'refused' };
      return take(verified, { ...arrival, path: hook.path ?? '' });
    },
  };
};

const digestOf = (body: Buffer): string => hash('sha256', body, 'hex');
