import { type Clock, iso } from '../../kernel/clock.js';
import { type Headers, headerText, isSigned, stripeTime } from '../../kernel/signature.js';
import { isNear, signedTimeOf } from '../senders/verify.js';
import type { RefusedDeliveries, RefusedDelivery } from './contract.js';
import { meansSecret, secretHeaders } from './headers.js';
import type { InboundVerdict, Inbox, Receiving } from './inbound.js';
import type { Directory, ReceivingHook } from './receivinghooks.js';

/** The verdicts after which nothing of a delivery is kept, with the reasons that need no look at it. */
const REASONS: Record<string, RefusedFor | null> = {
  refused: null,
  wrong_type: 'content_type',
  not_json: 'not_json',
  busy: 'backlog',
  secret_in_query: 'secret_in_query',
  bad_handshake: 'handshake',
  none_enabled: 'disabled',
};

/** Ours: the newest of each hook, and the hooks of which they are kept in memory. */
const MOST_OF_HOOK = 20;
const MOST_HOOKS = 5000;
const MOST_HEADERS = 10;
const LONGEST_NAME = 100;

/** Creates the memory of refused deliveries. It begins anew when the daemon starts. */
export const createRefusalLog = ({ clock, directory }: { clock: Clock; directory: Directory }) => {
  const since = iso(clock.now());
  const byHook = new Map<string, { count: number; newest: RefusedDelivery[] }>();

  const add = (hook: ReceivingHook, arrival: RefusedArrival, verdict: string): void => {
    const { count, newest } = byHook.get(hook.id) ?? { count: 0, newest: [] };
    const refused = [refusedDelivery(hook, arrival, verdict, clock.now()), ...newest];
    byHook.delete(hook.id);
    byHook.set(hook.id, { count: count + 1, newest: refused.slice(0, MOST_OF_HOOK) });
    const [oldest] = byHook.size > MOST_HOOKS ? byHook.keys() : [];
    if (oldest !== undefined) byHook.delete(oldest);
  };

  /** Keeps in mind for all these hooks that a delivery was refused, if it was. */
  const watch = (
    hooks: ReceivingHook[],
    arrival: RefusedArrival,
    receiving: Receiving,
  ): Receiving => {
    const note = (found: InboundVerdict): InboundVerdict => {
      const { verdict } = found;
      if (Object.hasOwn(REASONS, verdict)) for (const hook of hooks) add(hook, arrival, verdict);
      return found;
    };
    return receiving instanceof Promise ? receiving.then(note) : note(receiving);
  };

  return {
    /** Returns the inbox with its refusals watched. */
    watching: ({ byPath, byHook, challenge }: Inbox): Inbox => ({
      byPath: (path, arrival) => {
        const arrived = { headers: arrival.headers, isIncoming: false };
        return watch(directory.onPath(path), arrived, byPath(path, arrival));
      },
      byHook: (hookId, arrival) => {
        const hook = directory.byId(hookId);
        const arrived = { headers: arrival.headers, isIncoming: true };
        return watch(hook ? [hook] : [], arrived, byHook(hookId, arrival));
      },
      challenge,
    }),
    of: (hookId: string): RefusedDeliveries => {
      const { count, newest } = byHook.get(hookId) ?? { count: 0, newest: [] };
      return { since, count, refused: newest };
    },
  };
};

export type RefusalLog = ReturnType<typeof createRefusalLog>;

const refusedDelivery = (
  hook: ReceivingHook,
  arrival: RefusedArrival,
  verdict: string,
  now: number,
): RefusedDelivery => {
  const reason = REASONS[verdict] ?? whyUnverified(hook, arrival, now);
  const contentType = headerText(arrival.headers, 'content-type');
  return {
    at: iso(now),
    reason,
    message: messageOf(reason, hook),
    contentType: contentType?.slice(0, LONGEST_NAME) ?? null,
    headers: namesIn(arrival.headers),
  };
};

/** The part of a request that tells why it was refused. */
interface RefusedArrival {
  headers: Headers;
  /** True if it came to the hook's own address, which takes the secret in a header. */
  isIncoming: boolean;
}

type RefusedFor = RefusedDelivery['reason'];

const whyUnverified = (
  { secrets, sender }: ReceivingHook,
  { headers, isIncoming }: RefusedArrival,
  now: number,
): RefusedFor => {
  if (secrets.length === 0 && sender?.recipe.algorithm !== 'sns') return 'no_secret';
  if (!sender && isIncoming) return secretHeaders(headers).length === 0 ? 'unsigned' : 'mismatch';
  if (!sender) {
    if (!isSigned(headers)) return 'unsigned';
    const time = headers['webhook-timestamp'] ?? headers['svix-timestamp'] ?? stripeTime(headers);
    return time !== '' && !isNear(time, now) ? 'not_now' : 'mismatch';
  }
  const { recipe } = sender;
  if (headerText(headers, recipe.header) === undefined) return 'unsigned';
  const time = signedTimeOf(recipe, headers);
  const isLate = time !== undefined && !isNear(time, now, recipe.toleranceSeconds);
  return isLate ? 'not_now' : 'mismatch';
};

const messageOf = (reason: RefusedFor, { sender }: ReceivingHook): string => {
  const header = sender?.recipe.header;
  const signature = header === undefined ? 'The signature or secret' : `The header ${header}`;
  switch (reason) {
    case 'no_secret':
      return 'The hook has no secret';
    case 'unsigned':
      return header === undefined
        ? 'It has no signature and no secret that is known here'
        : `It has no header ${header}, in which this sender signs`;
    case 'not_now':
      return 'The time that it signs is too far from that of this machine';
    case 'mismatch':
      return `${signature} does not match: another secret, or the body was changed on the way`;
    case 'content_type':
      return 'The sender does not send this content type';
    case 'not_json':
      return 'The body is not what its content type says';
    case 'secret_in_query':
      return 'The query string holds a token, secret, key or signature';
    case 'handshake':
      return 'The handshake is not one of this sender';
    case 'backlog':
      return 'Too many deliveries wait';
    case 'disabled':
      return 'The hook is disabled; the sender was answered with 200';
  }
};

const TIME = /timestamp|request-time/;

/** Names of headers are chosen by whoever sends: only some, cut. */
const namesIn = (headers: RefusedArrival['headers']): string[] =>
  Object.keys(headers)
    .filter((name) => meansSecret(name) || TIME.test(name))
    .slice(0, MOST_HEADERS)
    .map((name) => name.slice(0, LONGEST_NAME));
