import { setMaxListeners } from 'node:events';
import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Log } from '../kernel/log.js';
import type {
  ChatEvent,
  Inbound,
  InboundRequest,
  MovedEvent,
  Platform,
  PlatformDeferral,
  PlatformReach,
  PlatformSent,
  UndeliveredEvent,
} from '../providers/chat/platform.js';
import { platforms } from '../providers/chat/platforms.js';
import type { ChannelKind } from '../store/tables/channels.js';
import type { DecisionOrigin, DecisionReply } from './decision.js';
import type { Handle } from './handle.js';
import type { PlatformSettingsCache } from './settings.js';

export interface PlatformReceiverDeps {
  clock: Clock;
  log: Log;
  http: Http;
  settings: PlatformSettingsCache;
  handle: Handle;
  /** An accepted message was not delivered after all. Resolves when that is stored. */
  undelivered(kind: ChannelKind, event: UndeliveredEvent): Promise<void>;
  proveWebhook: ProveWebhook;
  /** Resolves when the new number is stored. */
  moved(kind: ChannelKind, event: MovedEvent): Promise<void>;
}

export interface UnreadMessages {
  kind: ChannelKind;
  count: number;
  reason: string;
}

export interface VerifiedEvents {
  kind: ChannelKind;
  events: Inbound[];
  /** null if the platform accepts no reply. */
  reply(event: ChatEvent, text: string, isOver?: boolean): object | null;
  /** Reply if the text follows later. */
  pendingReply?(): object;
  /** Deferred reply, which `finish` sends. */
  deferral?: {
    afterMs: number;
    reply(event: ChatEvent): object;
    finish(event: ChatEvent, outcome: DecisionReply | null): Promise<void>;
  };
  say(event: ChatEvent, text: string): Promise<void>;
  /** Removes the buttons; null if the platform cannot. */
  conclude(event: ChatEvent, text: string): Promise<void> | null;
}

/** `refused`: the sender was not authenticated, and nothing was done. */
export type InboundResult = { verdict: 'refused' } | { verdict: 'received'; reply: object | null };

/** One log line per this many messages, for a bot in a busy group. */
const UNREAD_PER_LINE = 100;

export const createPlatformReceiver = (deps: PlatformReceiverDeps) => {
  const { log } = deps;
  const aborter = new AbortController();
  // One listener per running reply.
  setMaxListeners(0, aborter.signal);
  const underWay = new Set<Promise<void>>();
  const unread = new Map<ChannelKind, UnreadMessages>();

  /** Acknowledged and dropped, since the platform would repeat it for days. */
  const noteUnread = (kind: ChannelKind, reason: string): void => {
    const count = (unread.get(kind)?.count ?? 0) + 1;
    unread.set(kind, { kind, count, reason });
    if (count % UNREAD_PER_LINE === 1)
      log.warn({ kind, reason, count }, 'could not parse a platform message');
  };

  /** Errors are only logged. */
  const afterwards = (work: Promise<void>): void => {
    const ended = work
      .catch((err) => log.warn({ err }, 'could not send a reply to a channel'))
      .finally(() => underWay.delete(ended));
    underWay.add(ended);
  };

  const tell = async (
    proven: VerifiedEvents,
    event: ChatEvent,
    origin: DecisionOrigin,
  ): Promise<object | null> => {
    const handled = deps.handle({ kind: proven.kind, event, origin });
    const { deferral } = proven;
    if (
      deferral &&
      !(await endsWithin(deps.clock, handled, { ms: deferral.afterMs, signal: aborter.signal }))
    ) {
      afterwards(handled.then((outcome) => deferral.finish(event, outcome)));
      return deferral.reply(event);
    }
    return replyWith(proven, event, await handled);
  };

  const replyWith = (
    proven: VerifiedEvents,
    event: ChatEvent,
    outcome: DecisionReply | null,
  ): object | null => {
    if (!outcome) return proven.pendingReply?.() ?? null;
    const { text, isOver } = outcome;
    const concluded = isOver && event.kind === 'button' ? proven.conclude(event, text) : null;
    if (concluded) afterwards(concluded);
    const reply = proven.reply(event, text, isOver);
    if (!reply && !concluded) afterwards(proven.say(event, text));
    return reply;
  };

  return {
    /** Resolves when the content is stored. */
    receive: async (
      endpoint: Platform['endpoint'],
      request: InboundRequest,
      origin: DecisionOrigin,
    ): Promise<InboundResult> => {
      const proven = await prove(deps, { endpoint, request, signal: aborter.signal });
      if (!proven) return { verdict: 'refused' };
      let reply: object | null = null;
      for (const event of proven.events) {
        if (event.kind === 'challenge') reply = event.reply;
        else if (event.kind === 'undelivered') await deps.undelivered(proven.kind, event);
        else if (event.kind === 'moved') await deps.moved(proven.kind, event);
        else if (event.kind !== 'ignored') reply = await tell(proven, event, origin);
        else if (event.reason !== undefined) noteUnread(proven.kind, event.reason);
      }
      return { verdict: 'received', reply };
    },
    unread: (): UnreadMessages[] => [...unread.values()],
    /** null: reject. */
    handshake: (endpoint: Platform['endpoint'], query: Record<string, unknown>): string | null => {
      for (const platform of platforms.filter((one) => one.endpoint === endpoint)) {
        for (const settings of deps.settings.proving(platform.kind)) {
          const reply = platform.handshake?.(query, settings);
          if (reply) return reply;
        }
      }
      return null;
    },
    stop: async (): Promise<void> => {
      aborter.abort();
      await Promise.all(underWay);
    },
  };
};

export type PlatformReceiver = ReturnType<typeof createPlatformReceiver>;

interface InboundCall {
  endpoint: Platform['endpoint'];
  request: InboundRequest;
  signal: AbortSignal;
}

const prove = async (
  deps: PlatformReceiverDeps,
  attempt: InboundCall,
): Promise<VerifiedEvents | null> => {
  const { endpoint, request } = attempt;
  const platform = platforms.find(
    (one) => one.endpoint === endpoint && one.matchesHeaders(request.headers),
  );
  if (!platform) return endpoint === 'messenger' ? deps.proveWebhook(request) : null;
  const now = deps.clock.now();
  const proving = deps.settings.proving(platform.kind);
  const [settings] = proving;
  if (!settings || !proving.some((each) => platform.verify(request, each, now))) return null;
  const receiver = deps.settings.receiver(endpoint) ?? '';
  const { clock, http } = deps;
  return verifiedSender(platform, request, {
    clock,
    http,
    settings,
    receiver,
    signal: attempt.signal,
  });
};

const verifiedSender = (
  platform: Platform,
  request: InboundRequest,
  reach: PlatformReach,
): VerifiedEvents => ({
  kind: platform.kind,
  events: platform.parse(request, reach.settings),
  reply: platform.reply,
  ...(platform.pendingReply && { pendingReply: platform.pendingReply }),
  ...(platform.deferral && { deferral: deferralBy(platform.deferral, reach) }),
  say: async (event, text) => {
    for (const part of platform.render({ title: null, text })) {
      const there = await platform.replyAt?.(reach, event, part);
      if (there?.verdict === 'sent') continue;
      assertSent(await platform.send(reach, event.sender.id, part));
    }
  },
  conclude: (event, text) =>
    event.kind === 'button' && platform.conclude
      ? platform.conclude(reach, event, text).then(assertSent)
      : null,
});

const deferralBy = (
  { afterMs, reply, finish }: PlatformDeferral,
  reach: PlatformReach,
): VerifiedEvents['deferral'] => ({
  afterMs,
  reply,
  finish: async (event, outcome) => assertSent(await finish(reach, event, outcome)),
});

/** Errors are left to the caller. */
const endsWithin = async (
  clock: Clock,
  work: Promise<unknown>,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<boolean> => {
  const timer = new AbortController();
  const late = clock.wait(ms, AbortSignal.any([timer.signal, signal])).then(() => false);
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late.catch(() => true)]);
  } finally {
    timer.abort();
  }
};

/** Not resent: a user who misses the reply asks again. */
const assertSent = (sent: PlatformSent): void => {
  if (sent.verdict !== 'sent') throw new Error(sent.error);
};

/** Resolves to null if the verification fails. */
export type ProveWebhook = (request: InboundRequest) => Promise<VerifiedEvents | null>;
