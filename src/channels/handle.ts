import { answerIn } from '../approvals/replytext.js';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { createRate } from '../kernel/rate.js';
import type { MessageEvent, Spoken } from '../providers/chat/platform.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { ChannelKind, ChannelRow } from '../store/tables/channels.js';
import { beginAnew, type ConversationDeps, sayFrom, statusOf } from './conversation.js';
import { type Decided, type DecisionOrigin, type DecisionsDeps, decideFrom } from './decisions.js';
import { once } from './events.js';
import type { LinkedChannel, SenderLinks } from './links.js';
import { LinkRefused } from './refusal.js';
import type { ChannelSender } from './sender.js';
import { createSerial } from './serial.js';

export interface HandlingDeps extends ConversationDeps, DecisionsDeps {
  links: SenderLinks;
  /**
   * Returns true if messages can be sent to channels of that kind, beyond the reply to a request.
   */
  canSend(kind: ChannelKind): boolean;
}

/** A message that the platform's signature proves, with the request that brought it. */
export interface InboundMessage {
  kind: ChannelKind;
  event: Spoken;
  origin: DecisionOrigin;
}

/** Handles a message. Resolves to the immediate reply, or to null if there is none. */
export type Handle = (heard: InboundMessage) => Promise<Decided | null>;

/**
 * Ours: limit of replies per minute to a sender without a linked account; beyond it there is no
 * reply.
 */
const ANSWERS_TO_STRANGERS = 5;
/**
 * Ours: limit of replies per minute to messages without text, since an album is as many messages as
 * it has pictures.
 */
const ANSWERS_TO_WORDLESS = 1;

const HELP = [
  'What you write here is said to your agents; the answer comes back here.',
  '/new begins another conversation. /status says what is going on.',
  'approve DIGEST and deny DIGEST answer what waits for your word.',
  'Where / is taken, write ! in its place: !new',
].join('\n');
const NOT_READ = 'This chat is not linked to an account, so nothing that is written here is read.';
const UNLINKED = [
  NOT_READ,
  'Write /link for a code to redeem: adjutant channels link CODE',
  'Or with a code of yours, from adjutant channels link: /link CODE',
].join('\n');
/**
 * If others read along, the first to read a code could link the sender to an account of their own.
 */
const OVERHEARD = [
  NOT_READ,
  'Others read along, so no code is shown here. Get one: adjutant channels link',
  'Then say here, within five minutes: /link CODE',
].join('\n');
const unsent = (kind: ChannelKind): string =>
  `${kind} is not set up for sending, so no answer would come here. An admin mends it: adjutant channels setup ${kind}`;
const FORWARDED =
  'That was forwarded, so it is not your own word: nothing was done. Write it yourself.';
const WORDLESS = 'Only text is understood here for now: that was not read.';

/**
 * Makes the handler of verified events. Only messages of a linked sender are accepted. Any other
 * sender is only told how to link, and gets no reply to an event without text. Ours: a linked
 * owner's own messages are trusted as if they were typed in the app; forwarded ones are refused.
 * The events of one sender are handled one after the other, since otherwise two quick first
 * messages would begin a conversation each.
 */
export const createHandling = (deps: HandlingDeps): Handle => {
  const toAnonymousLimit = createRate(ANSWERS_TO_STRANGERS, deps.clock);
  const toWordless = createRate(ANSWERS_TO_WORDLESS, deps.clock);
  const handle: Handle = async (heard) => {
    const { kind, event } = heard;
    const who = `${kind} ${event.sender.id}`;
    const channel = await deps.links.channelOf({ kind, id: event.sender.id });
    if (event.kind === 'message' && event.isWordless) {
      if (!channel || toWordless.take(who)?.isSpent) return null;
      return said(await once(deps, { kind, eventId: event.eventId }, async () => WORDLESS));
    }
    if (!channel) {
      if (toAnonymousLimit.take(who)?.isSpent) return null;
      return event.kind === 'button'
        ? said(UNLINKED)
        : said(await fromStranger(deps, heard, event));
    }
    return event.kind === 'button'
      ? decideFrom(deps, channel, event, heard.origin)
      : fromOwner(deps, { ...heard, event, channel });
  };
  const inTurn = createSerial();
  return (heard) => inTurn(`${heard.kind} ${heard.event.sender.id}`, () => handle(heard));
};

const said = (text: string | null): Decided | null =>
  text === null ? null : { text, isOver: false };

/** `/new` or `!new`: some platforms intercept the slash. */
const COMMAND = /^[/!](\w+)(?:\s+([\s\S]*))?$/;
/**
 * An unlinked sender has no other command, so the sign may be left out: `/adjutant link K7MPXA`.
 */
const LINK = /^[/!]?link(?:\s+(\S+))?$/i;

const commandIn = (text: string): { name: string; rest: string } | null => {
  const [, name, rest = ''] = COMMAND.exec(text.trim()) ?? [];
  return name === undefined ? null : { name: name.toLowerCase(), rest: rest.trim() };
};

const fromStranger = async (
  deps: HandlingDeps,
  { kind, origin }: InboundMessage,
  { sender, eventId, text, isOverheard }: MessageEvent,
): Promise<string | null> => {
  const [asked, code] = LINK.exec(text.trim()) ?? [];
  const who: ChannelSender = { kind, id: sender.id, name: sender.name };
  return once(deps, { kind, eventId }, async () => {
    if (code !== undefined) return redeem(deps, who, code, origin);
    if (isOverheard) return OVERHEARD;
    return asked === undefined ? UNLINKED : giveCode(deps, who);
  });
};

const giveCode = async ({ links }: HandlingDeps, sender: ChannelSender): Promise<string> => {
  try {
    const { code } = await links.makeCode(sender);
    return `Your code is ${code}, for five minutes. Redeem it: adjutant channels link ${code}`;
  } catch (error) {
    return refusalIn(error);
  }
};

const redeem = async (
  deps: HandlingDeps,
  sender: ChannelSender,
  code: string,
  origin: DecisionOrigin,
): Promise<string> => {
  try {
    await deps.links.redeemFrom(sender, code, (row) => [linkAudit(deps.clock, row, origin)]);
    const { kind } = sender;
    return deps.canSend(kind) ? `Linked. ${HELP}` : `Linked. But ${unsent(kind)}`;
  } catch (error) {
    return refusalIn(error);
  }
};

const refusalIn = (error: unknown): string => {
  if (error instanceof LinkRefused) return `${error.message}.`;
  throw error;
};

const linkAudit = (
  clock: Clock,
  row: ChannelRow,
  { address, requestId }: DecisionOrigin,
): TransactionStep => {
  const now = clock.now();
  return {
    audit: {
      ...{ id: mint('audit', now), at: iso(now), actorId: row.user_id, impersonatorId: null },
      ...{ action: 'channels.link', target: row.id, outcome: 'ok', ip: address, requestId },
      data: { kind: row.kind, address: row.sender_id },
    },
  };
};

interface FromOwner extends InboundMessage {
  event: MessageEvent;
  channel: LinkedChannel;
}

const fromOwner = async (deps: HandlingDeps, heard: FromOwner): Promise<Decided | null> => {
  const { event, channel, kind, origin } = heard;
  const { text, eventId } = event;
  const received = { kind, eventId };
  if (event.isForwarded) return said(await once(deps, received, async () => FORWARDED));
  const answer = answerIn(text);
  if (answer) return decideFrom(deps, channel, answer, origin);
  const command = commandIn(text);
  if (!command && !deps.canSend(kind)) {
    return said(await once(deps, received, async () => `Nothing was done: ${unsent(kind)}`));
  }
  if (!command) return said(await sayFrom(deps, channel, { eventId, text }));
  return said(await once(deps, received, () => obey(deps, channel, command.name)));
};

const obey = async (deps: HandlingDeps, channel: LinkedChannel, name: string): Promise<string> => {
  switch (name) {
    case 'new':
      await beginAnew(deps.store, channel);
      return 'A new conversation: your next words begin it.';
    case 'status':
      return statusOf(deps.store, channel.userId, deps.clock);
    case 'link':
      return 'This chat is linked already.';
    case 'start':
    case 'help':
      return HELP;
    default:
      return `No command /${name.slice(0, 20)}. ${HELP}`;
  }
};
