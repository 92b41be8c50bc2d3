import { isUtf8 } from 'node:buffer';
import { createSecretKey, hash, type KeyObject } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { type Headers, isSame, isSigned, verifySignature } from '../../kernel/signature.js';
import type { Store } from '../../store/store.js';
import type { Directory, ReceivingHook } from '../hooks/directory.js';
import type { Queue } from '../jobs/queue.js';
import type { Hub } from '../realtime/hub.js';
import { eventInBody, eventOf, keptHeaders, secretsOf, senderIdOf } from './headers.js';
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

/** What is refused is known at once. */
export type Receiving = Reception | Promise<Reception>;

export interface Inbox {
  /** `POST /api/webhooks/{path}`: every hook on the path whose own secret verifies the body. */
  byPath(path: string, arrival: Arrival): Receiving;
  /** `POST /api/hooks/incoming/{hookId}`: that hook, if the request carries its secret. */
  byHook(hookId: string, arrival: Omit<Arrival, 'path'>): Receiving;
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

/** With the id of its execution. */
interface Run extends Verified {
  id: string;
}

const WAITING_PER_HOOK = 100_000;
const WAITING_OVERALL = 1_000_000;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** From the wire to the database: nothing is answered with a 2xx before its fsync. */
export const createInbox = (deps: InboxDeps): Inbox => {
  const { store, clock, directory, queue } = deps;
  const decoy = createSecretKey(Buffer.alloc(32, 1));

  const take = (verified: Verified[], arrival: Arrival): Receiving => {
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
    const event = eventOf(headers) ?? eventInBody(headers, text);
    const at = iso(now);
    const runs = firing.map(
      ({ hook, usedOldSecret }): Run => ({ hook, usedOldSecret, id: mint('execution', now) }),
    );
    const [fired, duplicateOf] = await store.call('acceptDelivery', [
      [id, at, path, 'POST', JSON.stringify(keptHeaders(headers)), text, event],
      senderId === null ? null : [senderId, digestOf(body)],
      runs.map((run) => [run.hook.id, run.id, run.usedOldSecret]),
    ]);
    for (const { hook } of firing) if (hook.credentialId) deps.used(hook.credentialId);
    const begun = runs.filter((_, index) => fired.includes(index));
    tell(begun, event, at);
    if (begun.length > 0) {
      return { verdict: 'accepted', deliveryId: id, executions: begun.map((run) => run.id) };
    }
    if (duplicateOf !== null) return { verdict: 'duplicate', deliveryId: duplicateOf };
    return { verdict: 'none_enabled' };
  };

  /** The queue, and those who follow live. */
  const tell = (begun: Run[], event: string | null, at: string): void => {
    for (const { hook, id } of begun) {
      queue.added(hook.id);
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
    byPath: (path, arrival) => {
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
    byHook: (hookId, arrival) => {
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
