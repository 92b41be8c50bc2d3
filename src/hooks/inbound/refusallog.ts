import { type Clock, iso } from '../../kernel/clock.js';
import { type Headers, headerText } from '../../kernel/signature.js';
import type { VerifiedHook } from './candidates.js';
import type { RefusedDeliveries, RefusedDelivery } from './contract.js';
import { isAddressSigned, rejectionReason } from './diagnose.js';
import { isSensitiveName, type SecretFilter } from './headers.js';
import type { InboundVerdict, Inbox, Receiving } from './inbound.js';
import type { Directory, ReceivingHook } from './receivinghooks.js';
import { createSecretFilter } from './redactheaders.js';

/** Kept in memory: rejections per hook, and hooks. All are counted. */
const MAX_OF_HOOK = 20;
const MAX_HOOKS = 1000;
const MAX_HEADERS = 10;
const MAX_NAME_LENGTH = 100;

interface RefusalLogDeps {
  clock: Clock;
  directory: Directory;
  addressOf(url: string): string | null;
}

/** Empty after each start of the daemon. */
export const createRefusalLog = ({ clock, directory, addressOf }: RefusalLogDeps) => {
  const since = iso(clock.now());
  const counts = new Map<string, number>();
  const byHook = new Map<string, RefusedDelivery[]>();

  const add = ({ hook, reason, message }: RefusedHook, shown: ShownRequest): void => {
    const newest = byHook.get(hook.id) ?? [];
    const refused = { at: iso(clock.now()), reason, message, ...shown };
    counts.set(hook.id, (counts.get(hook.id) ?? 0) + 1);
    byHook.delete(hook.id);
    byHook.set(hook.id, [refused, ...newest].slice(0, MAX_OF_HOOK));
    const [oldest] = byHook.size > MAX_HOOKS ? byHook.keys() : [];
    if (oldest !== undefined) byHook.delete(oldest);
  };

  const watch = (
    hooks: ReceivingHook[],
    arrival: RefusedArrival,
    receiving: Receiving,
  ): Receiving => {
    const note = (found: InboundVerdict): InboundVerdict => {
      const url = hooks.some(({ sender }) => isAddressSigned(sender))
        ? addressOf(arrival.url)
        : null;
      const refused = refusedHooks(found, hooks, { ...arrival, address: url, now: clock.now() });
      if (refused.length === 0) return found;
      const shown = redactRequest(arrival.headers, createSecretFilter([], hooks));
      for (const each of refused) add(each, shown);
      return found;
    };
    return receiving instanceof Promise ? receiving.then(note) : note(receiving);
  };

  return {
    watching: ({ byPath, byHook, challenge }: Inbox): Inbox => ({
      byPath: (path, arrival) => {
        const arrived = { ...arrival, isIncoming: false };
        return watch(directory.onPath(path), arrived, byPath(path, arrival));
      },
      byHook: (hookId, arrival) => {
        const hook = directory.byId(hookId);
        const arrived = { ...arrival, isIncoming: true };
        return watch(hook ? [hook] : [], arrived, byHook(hookId, arrival));
      },
      challenge,
    }),
    tried: (path: string): boolean => {
      const hooks = directory.onPath(path);
      for (const hook of hooks) add({ hook, reason: 'tried', message: MESSAGES.tried }, NOTHING);
      return hooks.length > 0;
    },
    of: (hookId: string): RefusedDeliveries => ({
      since,
      count: counts.get(hookId) ?? 0,
      refused: byHook.get(hookId) ?? [],
    }),
  };
};

export type RefusalLog = ReturnType<typeof createRefusalLog>;

interface RefusedHook {
  hook: ReceivingHook;
  reason: RefusedFor;
  message: string;
}

/**
 * A verified delivery is rejected for the hooks that verified it. Other hooks on the path may have
 * another sender.
 */
const refusedHooks = (
  found: InboundVerdict,
  hooks: ReceivingHook[],
  arrival: JudgedArrival,
): RefusedHook[] => {
  const all = (reason: PlainReason) =>
    hooks.map((hook) => ({ hook, reason, message: MESSAGES[reason] }));
  const verified = (by: VerifiedHook[], reason: RefusedFor, message: string) =>
    by.map(({ hook }) => ({ hook, reason, message }));
  switch (found.verdict) {
    case 'refused': {
      // One object for all hooks, so that an untrusted body is parsed only once.
      const { headers, body, address: url, now } = arrival;
      const request = { headers, body, url, now };
      return hooks.map((hook) => ({ hook, ...rejectionReason(hook, request, arrival) }));
    }
    case 'secret_in_query':
      return all('secret_in_query');
    case 'bad_handshake':
      return all('handshake').filter(({ hook }) => hook.sender?.recipe.handshake !== undefined);
    case 'wrong_type':
      return verified(found.verified, 'content_type', found.message);
    case 'encoded':
      return verified(found.verified, 'content_encoding', found.message);
    case 'unreadable':
      return verified(found.verified, found.fault.fault, found.fault.message);
    case 'busy':
      return verified(found.verified, 'backlog', MESSAGES.backlog);
    case 'none_enabled':
      return verified(found.verified ?? [], 'disabled', MESSAGES.disabled);
    default:
      return [];
  }
};

type RefusedFor = RefusedDelivery['reason'];

const MESSAGES = {
  secret_in_query: 'The query string contains a token, secret, key or signature',
  handshake: 'The handshake is invalid for this sender',
  backlog: 'The delivery backlog is full',
  tried: 'The sender checked the address with HEAD or GET. The reply was 200, and no hook ran',
  disabled: 'The hook is disabled. The reply was 200',
};

type PlainReason = keyof typeof MESSAGES;

type ShownRequest = Pick<RefusedDelivery, 'contentType' | 'headers'>;

const NOTHING: ShownRequest = { contentType: null, headers: [] };

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}/;

const redactRequest = (headers: Headers, { holdsSecret }: SecretFilter): ShownRequest => {
  const [type] = MEDIA_TYPE.exec(headerText(headers, 'content-type') ?? '') ?? [];
  return {
    contentType: type === undefined || holdsSecret(type) ? null : copied(type),
    headers: namesIn(headers)
      .filter((name) => !holdsSecret(name))
      .map(copied),
  };
};

/** Copies the text, because a substring would keep the whole original in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

interface RefusedArrival {
  headers: Headers;
  body: Buffer;
  url: string;
  /** Whether the request used the address of the hook, which accepts the secret in a header. */
  isIncoming: boolean;
}

interface JudgedArrival extends RefusedArrival {
  /** Null if the daemon has no public URL, or no sender signs it. */
  address: string | null;
  now: number;
}

const TIME = /timestamp|request-time/;

/** The sender chooses header names, so their number and length are limited. */
const namesIn = (headers: RefusedArrival['headers']): string[] =>
  Object.keys(headers)
    .filter((name) => name.length <= MAX_NAME_LENGTH && (isSensitiveName(name) || TIME.test(name)))
    .slice(0, MAX_HEADERS);
