import { type Clock, iso } from '../../kernel/clock.js';
import { type Headers, headerText, isSigned, stripeTime } from '../../kernel/signature.js';
import { isBodyTimely, isNear, type SenderRequest, signedTimeOf } from '../senders/verify.js';
import type { VerifiedHook } from './accept.js';
import type { RefusedDeliveries, RefusedDelivery } from './contract.js';
import { meansSecret, secretHeaders, type Unkept } from './headers.js';
import type { InboundVerdict, Inbox, Receiving } from './inbound.js';
import type { Directory, ReceivingHook } from './receivinghooks.js';
import { unkeptOf } from './unkept.js';

/** Ours: the newest of each hook, and the hooks of which they are kept in memory. */
const MOST_OF_HOOK = 20;
const MOST_HOOKS = 1000;
const MOST_HEADERS = 10;
const LONGEST_NAME = 100;
/** The largest body that is read to find out why it was not verified. */
const MOST_READ = 128 * 1024;

/** Creates the memory of refused deliveries. It begins anew when the daemon starts. */
export const createRefusalLog = ({ clock, directory }: { clock: Clock; directory: Directory }) => {
  const since = iso(clock.now());
  const byHook = new Map<string, { count: number; newest: RefusedDelivery[] }>();

  const add = ({ hook, reason }: RefusedHook, shown: ShownRequest): void => {
    const { count, newest } = byHook.get(hook.id) ?? { count: 0, newest: [] };
    const refused = { at: iso(clock.now()), reason, message: messageOf(reason, hook), ...shown };
    byHook.delete(hook.id);
    byHook.set(hook.id, { count: count + 1, newest: [refused, ...newest].slice(0, MOST_OF_HOOK) });
    const [oldest] = byHook.size > MOST_HOOKS ? byHook.keys() : [];
    if (oldest !== undefined) byHook.delete(oldest);
  };

  /** Keeps in mind for the hooks on the path that a delivery was refused, if it was. */
  const watch = (
    hooks: ReceivingHook[],
    arrival: RefusedArrival,
    receiving: Receiving,
  ): Receiving => {
    const note = (found: InboundVerdict): InboundVerdict => {
      const refused = refusedHooks(found, hooks, { ...arrival, now: clock.now() });
      if (refused.length === 0) return found;
      const shown = shownOf(arrival.headers, unkeptOf([], hooks));
      for (const each of refused) add(each, shown);
      return found;
    };
    return receiving instanceof Promise ? receiving.then(note) : note(receiving);
  };

  return {
    /** Returns the inbox with its refusals watched. */
    watching: ({ byPath, byHook, challenge }: Inbox): Inbox => ({
      byPath: (path, arrival) => {
        const arrived = { headers: arrival.headers, body: arrival.body, isIncoming: false };
        return watch(directory.onPath(path), arrived, byPath(path, arrival));
      },
      byHook: (hookId, arrival) => {
        const hook = directory.byId(hookId);
        const arrived = { headers: arrival.headers, body: arrival.body, isIncoming: true };
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

/** A hook for which a delivery was refused. */
interface RefusedHook {
  hook: ReceivingHook;
  reason: RefusedFor;
}

/**
 * Returns the hooks for which nothing was kept, each with its reason. A delivery that was verified
 * is refused for the hooks that verified it; the others on the path may have another sender.
 */
const refusedHooks = (
  found: InboundVerdict,
  hooks: ReceivingHook[],
  arrival: RefusedArrival & { now: number },
): RefusedHook[] => {
  const all = (reason: RefusedFor) => hooks.map((hook) => ({ hook, reason }));
  const verified = (by: VerifiedHook[], reason: RefusedFor) =>
    by.map(({ hook }) => ({ hook, reason }));
  switch (found.verdict) {
    case 'refused': {
      // One object for all hooks, so that the body is parsed once: anybody may send one.
      const request = { headers: arrival.headers, body: arrival.body, url: null, now: arrival.now };
      const { isIncoming } = arrival;
      return hooks.map((hook) => ({ hook, reason: whyUnverified(hook, request, isIncoming) }));
    }
    case 'secret_in_query':
      return all('secret_in_query');
    case 'bad_handshake':
      return all('handshake').filter(({ hook }) => hook.sender?.recipe.handshake !== undefined);
    case 'wrong_type':
      return verified(found.verified, 'content_type');
    case 'not_json':
      return verified(found.verified, 'not_json');
    case 'busy':
      return verified(found.verified, 'backlog');
    case 'none_enabled':
      return verified(found.verified ?? [], 'disabled');
    default:
      return [];
  }
};

type ShownRequest = Pick<RefusedDelivery, 'contentType' | 'headers'>;

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,100}/;

/** Returns what is shown of a request: its media type and names, without any secret of the path. */
const shownOf = (headers: Headers, { holdsSecret }: Unkept): ShownRequest => {
  const [type] = MEDIA_TYPE.exec(headerText(headers, 'content-type') ?? '') ?? [];
  return {
    contentType: type === undefined || holdsSecret(type) ? null : copied(type),
    headers: namesIn(headers)
      .filter((name) => !holdsSecret(name))
      .map(copied),
  };
};

/** Returns a text of its own: a part of another text would keep all of that in memory. */
const copied = (text: string): string => Buffer.from(text).toString();

/** The part of a request that tells why it was refused. */
interface RefusedArrival {
  headers: Headers;
  body: Buffer;
  /** True if it came to the hook's own address, which takes the secret in a header. */
  isIncoming: boolean;
}

type RefusedFor = RefusedDelivery['reason'];

const whyUnverified = (
  { secrets, sender }: ReceivingHook,
  request: SenderRequest,
  isIncoming: boolean,
): RefusedFor => {
  const { headers, body, now } = request;
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
  if (time !== undefined && !isNear(time, now, recipe.toleranceSeconds)) return 'not_now';
  const isLate = body.length <= MOST_READ && !isBodyTimely(recipe, request);
  return isLate ? 'not_now' : 'mismatch';
};

const messageOf = (reason: RefusedFor, { sender }: ReceivingHook): string => {
  const header = sender?.recipe.header;
  if (reason === 'mismatch') return mismatchOf(sender);
  if (reason !== 'unsigned') return MESSAGES[reason];
  return header === undefined
    ? 'It has no signature and no secret that is known here'
    : `It has no header ${header}, in which this sender signs`;
};

const mismatchOf = (sender: ReceivingHook['sender']): string => {
  if (sender?.recipe.algorithm === 'sns')
    return 'It is no message of this topic with its signature';
  return `${provenPart(sender)} does not match: another secret, or the body was changed on the way`;
};

const provenPart = (sender: ReceivingHook['sender']): string => {
  if (sender === null) return 'The signature or secret';
  const { algorithm, header } = sender.recipe;
  return algorithm === 'client-state' ? 'The clientState in the body' : `The header ${header}`;
};

const MESSAGES: Record<Exclude<RefusedFor, 'mismatch' | 'unsigned'>, string> = {
  no_secret: 'The hook has no secret',
  not_now: 'The time that it signs is too far from that of this machine',
  content_type: 'The sender does not send this content type',
  not_json: 'The body is not what its content type says',
  secret_in_query: 'The query string holds a token, secret, key or signature',
  handshake: 'The handshake is not one of this sender',
  backlog: 'Too many deliveries wait',
  disabled: 'The hook is disabled; the sender was answered with 200',
};

const TIME = /timestamp|request-time/;

/** Names of headers are chosen by whoever sends: only some, and no long ones. */
const namesIn = (headers: RefusedArrival['headers']): string[] =>
  Object.keys(headers)
    .filter((name) => name.length <= LONGEST_NAME && (meansSecret(name) || TIME.test(name)))
    .slice(0, MOST_HEADERS);
