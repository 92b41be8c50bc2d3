import { parseDecision } from '../approvals/module.js';
import { createRate } from '../kernel/rate.js';
import { createSerial } from '../kernel/serial.js';
import type { RecentRuns } from '../pipelines/module.js';
import type { ChatEvent, MessageEvent } from '../providers/chat/platform.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { type ConversationDeps, formatStatus, leaveConversation } from './conversation.js';
import { auditFrom, type DecisionOrigin, type DecisionReply } from './decision.js';
import { type DecisionsDeps, decideFrom } from './decisions.js';
import { handleEventOnce } from './events.js';
import type { TakeFiles } from './files.js';
import { recordUserMessage } from './freetext.js';
import { type LinkedChannel, LinkRefused, type Links } from './links.js';
import type { MessageParts } from './parts.js';
import { retryRunNamed, runsText, stopRunNamed } from './runcommands.js';
import type { ChannelSender } from './sender.js';
import { parseStageAnswer } from './stageanswer.js';
import { answerStageFrom } from './stagedecision.js';

export interface HandlingDeps extends ConversationDeps, DecisionsDeps {
  links: Links;
  /** Sending beyond the reply to a request. */
  canSend(kind: ChannelKind): boolean;
  takeFiles: TakeFiles;
  parts: MessageParts;
  runs: RecentRuns;
}

/** Authenticated by the signature of the platform. */
export interface InboundMessage {
  kind: ChannelKind;
  event: ChatEvent;
  origin: DecisionOrigin;
}

/** Resolves to the immediate reply; null if there is none. */
export type Handle = (inbound: InboundMessage) => Promise<DecisionReply | null>;

/** Replies per minute to an unlinked sender. */
const MAX_REPLIES_TO_UNLINKED = 5;
/** Replies per minute. An album arrives as one message per picture. */
const MAX_REPLIES_WITHOUT_TEXT = 1;

const HELP = [
  'Messages you write here go to your agents. They reply here.',
  '/new starts a new conversation. /status shows the current status.',
  'approve DIGEST and deny DIGEST decide a pending approval.',
  'answer DIGEST VALUE submits input for a pipeline stage.',
  '/runs lists your latest pipeline runs. /stop ID stops a run, /retry ID retries it.',
  'If the app intercepts /, use ! instead: !new',
].join('\n');
const NOT_READ = 'This chat is not linked to an account, so messages here are ignored.';
const UNLINKED = [
  NOT_READ,
  'Write /link to get a code, then redeem it with: adjutant channels link CODE',
  'Or create a code with adjutant channels link and write: /link CODE',
].join('\n');
/** In a shared chat, another reader could redeem the code first. */
const SHARED_CHAT = [
  NOT_READ,
  'Other people can read this chat, so no code is shown here. Create a code with: adjutant channels link',
  'Then write here within five minutes: /link CODE',
].join('\n');
const notConfiguredText = (kind: ChannelKind): string =>
  `${kind} is not configured for sending, so no reply can be sent here. An admin can configure it with: adjutant channels setup ${kind}`;
const FORWARDED = 'Forwarded messages are not executed. Write the message yourself.';
const SEPARATE_REPLY =
  'Your agents receive only this message, not the thread or the channel. The reply is sent to our private chat.';
const UNSUPPORTED_CONTENT =
  'Only text, pictures, documents and voice messages are supported. The message was ignored.';

/**
 * An unlinked sender is only told how to link, and gets no reply to an event without text. Messages
 * of the linked owner are as trusted as text typed in the app. Forwarded messages are rejected,
 * except their files. Events of one sender are serialized, since two quick first messages would
 * start two conversations.
 */
export const createMessageHandler = (deps: HandlingDeps): Handle => {
  const toUnlinked = createRate(MAX_REPLIES_TO_UNLINKED, deps.clock);
  const toWordless = createRate(MAX_REPLIES_WITHOUT_TEXT, deps.clock);
  const handle: Handle = async (inbound) => {
    const { kind, event } = inbound;
    const who = `${kind} ${event.sender.id}`;
    const channel = await deps.links.channelOf({ kind, ...event.sender });
    if (channel) await recordUserMessage(deps, channel);
    if (event.kind === 'message' && event.hasNoText && !(channel && event.files)) {
      if (!channel || toWordless.take(who)?.isSpent) return null;
      return toDecisionReply(
        await handleEventOnce(
          deps,
          { kind, eventId: event.eventId },
          async () => UNSUPPORTED_CONTENT,
        ),
      );
    }
    if (!channel) {
      if (toUnlinked.take(who)?.isSpent) return null;
      return event.kind === 'button'
        ? toDecisionReply(UNLINKED)
        : toDecisionReply(await fromUnlinked(deps, inbound, event));
    }
    return event.kind === 'button'
      ? decideFrom(deps, channel, event, inbound.origin)
      : fromOwner(deps, { ...inbound, event, channel });
  };
  const inTurn = createSerial();
  return (inbound) => inTurn(`${inbound.kind} ${inbound.event.sender.id}`, () => handle(inbound));
};

const toDecisionReply = (text: string | null): DecisionReply | null =>
  text === null ? null : { text, isOver: false };

/** `/new` or `!new`: some platforms intercept the slash. */
const COMMAND = /^[/!](\w+)(?:\s+([\s\S]*))?$/;
/** The sign is optional, since an unlinked sender has no other command: `/adjutant link K7MPXA`. */
const LINK = /^[/!]?link(?:\s+(\S+))?$/i;

const commandIn = (text: string): { name: string; rest: string } | null => {
  const [, name, rest = ''] = COMMAND.exec(text.trim()) ?? [];
  return name === undefined ? null : { name: name.toLowerCase(), rest: rest.trim() };
};

const fromUnlinked = async (
  deps: HandlingDeps,
  { kind, origin }: InboundMessage,
  { sender, eventId, text, isReadByOthers }: MessageEvent,
): Promise<string | null> => {
  const [requested, code] = LINK.exec(text.trim()) ?? [];
  const who: ChannelSender = { kind, ...sender };
  return handleEventOnce(deps, { kind, eventId }, async () => {
    try {
      if (code !== undefined) return await redeem(deps, who, code, origin);
      if (isReadByOthers) return SHARED_CHAT;
      return requested === undefined ? UNLINKED : await createCodeReply(deps, who);
    } catch (error) {
      if (error instanceof LinkRefused) return `${error.message}.`;
      throw error;
    }
  });
};

const createCodeReply = async ({ links }: HandlingDeps, sender: ChannelSender): Promise<string> => {
  const { code } = await links.makeCode(sender);
  return `Your code is ${code}. It is valid for five minutes. Redeem it with: adjutant channels link ${code}`;
};

const redeem = async (
  deps: HandlingDeps,
  sender: ChannelSender,
  code: string,
  origin: DecisionOrigin,
): Promise<string> => {
  const { kind, id: address } = sender;
  await deps.links.redeemFrom(sender, code, ({ id: target, user_id: actorId }) => {
    const data = { kind, address };
    return [
      auditFrom(deps.clock, origin, {
        actorId,
        action: 'channels.link',
        target,
        data,
        ownerId: actorId,
      }),
    ];
  });
  return deps.canSend(kind) ? `Linked. ${HELP}` : `Linked. But ${notConfiguredText(kind)}`;
};

interface OwnerMessage extends InboundMessage {
  event: MessageEvent;
  channel: LinkedChannel;
}

const fromOwner = async (
  deps: HandlingDeps,
  inbound: OwnerMessage,
): Promise<DecisionReply | null> => {
  const { event, channel, kind, origin } = inbound;
  const { text, eventId } = event;
  const received = { kind, eventId };
  if (event.files) return withFiles(deps, inbound, event.files);
  if (event.isForwarded)
    return toDecisionReply(await handleEventOnce(deps, received, async () => FORWARDED));
  const decision = parseDecision(text);
  if (decision) return decideFrom(deps, channel, decision, origin);
  const answer = parseStageAnswer(text);
  if (answer) return answerStageFrom(deps, channel, answer, origin);
  const command = commandIn(text);
  if (!command && !deps.canSend(kind)) {
    return toDecisionReply(
      await handleEventOnce(
        deps,
        received,
        async () => `Nothing was done: ${notConfiguredText(kind)}`,
      ),
    );
  }
  if (!command) {
    const refused = await deps.parts.add(channel, event);
    if (refused !== null || !event.repliesElsewhere) return toDecisionReply(refused);
    const hint = { kind, eventId: `${eventId}:apart` };
    return toDecisionReply(await handleEventOnce(deps, hint, async () => SEPARATE_REPLY));
  }
  // Earlier messages belong to the previous conversation.
  await deps.parts.flush(channel.id);
  return toDecisionReply(
    await handleEventOnce(deps, received, () => runCommand(deps, channel, command)),
  );
};

/**
 * Text goes to the agents after the files are indexed. Commands and decisions run at once;
 * forwarded text is dropped.
 */
const withFiles = async (
  deps: HandlingDeps,
  inbound: OwnerMessage,
  files: NonNullable<MessageEvent['files']>,
): Promise<DecisionReply | null> => {
  const { event, channel, kind } = inbound;
  const { files: _, ...words } = event;
  const { eventId } = event;
  if (!deps.canSend(kind)) {
    return toDecisionReply(
      await handleEventOnce(
        deps,
        { kind, eventId },
        async () => `Nothing was done: ${notConfiguredText(kind)}`,
      ),
    );
  }
  const text = event.isForwarded ? '' : event.text;
  const isOrder = [parseDecision, parseStageAnswer, commandIn].some(
    (parse) => parse(text) !== null,
  );
  const message = { ...event, files, text: isOrder ? '' : text };
  const reply = toDecisionReply(await deps.takeFiles(channel, message));
  return isOrder ? fromOwner(deps, { ...inbound, event: words }) : reply;
};

const runCommand = async (
  deps: HandlingDeps,
  channel: LinkedChannel,
  { name, rest }: { name: string; rest: string },
): Promise<string> => {
  const { userId } = channel;
  switch (name) {
    case 'new':
      await leaveConversation(deps.store, channel);
      return 'Your next message starts a new conversation.';
    case 'status':
      return formatStatus(deps, userId);
    case 'runs':
      return runsText(deps.runs, userId);
    case 'stop':
      return stopRunNamed(deps.runs, userId, rest);
    case 'retry':
      return retryRunNamed(deps.runs, userId, rest);
    case 'link':
      return 'This chat is already linked.';
    case 'start':
    case 'help':
      return HELP;
    default:
      return `Unknown command: /${name.slice(0, 20)}. ${HELP}`;
  }
};
