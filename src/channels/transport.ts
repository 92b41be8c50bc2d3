import { type Clock, iso } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { SendResult, Transport } from '../outbound/module.js';
import type {
  ChannelMessage,
  OutboundPlatform,
  PlatformBody,
  PlatformReach,
  PlatformSent,
} from '../providers/chat/platform.js';
import type { Store } from '../store/store.js';
import type { ChannelRow } from '../store/tables/channels.js';
import type { OutboundMessageRow } from '../store/tables/outbox.js';
import { visibleTo } from '../store/visible.js';
import { CHANNEL_DELAYS_MS } from './delays.js';
import { recordWindowClosed } from './freetext.js';
import { buildChannelMessage, type MessageTextDeps } from './messagetext.js';
import type { ChatPace } from './pace.js';
import { renderInThread } from './renderinthread.js';
import { isConfiguredFor, type PlatformSettingsCache } from './settings.js';

export interface TransportDeps extends MessageTextDeps {
  clock: Clock;
  http: Http;
  settings: PlatformSettingsCache;
  pace: ChatPace;
}

/** The full text is in the app. */
const MAX_PARTS = 30;
/** As for a message to an agent. Limits the rendering time. */
const MAX_TEXT_LENGTH = 100_000;

/**
 * Delivered parts are recorded, and the next attempt continues after them. Platforms do not detect
 * repeats, so a message that may have arrived is not resent.
 */
export const createPlatformTransport = (
  deps: TransportDeps,
  platform: OutboundPlatform,
): Transport => ({
  isRepeatable: false,
  delaysMs: CHANNEL_DELAYS_MS,
  ready: ({ channel_id }, signal) => deps.pace(channel_id ?? '', signal),
  send: async (message, signal): Promise<SendResult> => {
    const channel = await findChannel(deps.store, message);
    if (!channel) return { verdict: 'failed', error: 'The channel is no longer linked' };
    const settings = deps.settings.of(platform.kind);
    if (!settings || !isConfiguredFor('send', platform, settings)) {
      return { verdict: 'failed', error: notConfigured(platform.kind) };
    }
    const receiver = deps.settings.receiver(platform.endpoint) ?? '';
    const reach = {
      clock: deps.clock,
      http: deps.http,
      settings,
      signal,
      receiver,
      hops: message.hops,
    };
    return sendContent(deps, platform, { message, channel, reach });
  },
});

interface PlatformMessage {
  message: OutboundMessageRow;
  channel: Pick<ChannelRow, 'id' | 'sender_id'> & { open_until: string | null };
  reach: PlatformReach;
}

/** As free text, or by template if the platform accepts none. */
const sendContent = async (
  deps: TransportDeps,
  platform: OutboundPlatform,
  outgoing: PlatformMessage,
): Promise<SendResult> => {
  const { message, channel, reach } = outgoing;
  const isRead = platform.endpoint !== undefined;
  const content = await buildChannelMessage(deps, message, isRead);
  const late = platform.late?.(reach.settings);
  const isLate = channel.open_until !== null && channel.open_until <= iso(deps.clock.now());
  if (late && isLate) return platform.send(reach, channel.sender_id, late(content));
  const sent = await sendParts(deps, platform, {
    ...outgoing,
    parts: await bounded(platform, content),
  });
  if (sent.verdict !== 'failed' || !sent.isLate) return sent;
  await recordWindowClosed(deps, { id: channel.id, userId: message.user_id });
  return late ? platform.send(reach, channel.sender_id, late(content)) : sent;
};

const notConfigured = (kind: string): string =>
  `${kind} is not configured. An admin can configure it with: adjutant platforms set ${kind}`;

/** A call that does not fit cannot be read completely here, so it cannot be approved here. */
const bounded = async (
  platform: OutboundPlatform,
  message: ChannelMessage,
): Promise<PlatformBody[]> => {
  const isCut = message.text.length > MAX_TEXT_LENGTH;
  const text = isCut ? message.text.slice(0, MAX_TEXT_LENGTH) : message.text;
  const parts =
    isCut && message.question ? [] : await renderInThread(platform, { ...message, text });
  if (parts.length === 0 && !isCut) return platform.render({ ...message, text: '(no text)' });
  if (parts.length <= MAX_PARTS && !isCut) return parts;
  const shown = message.question ? [] : parts.slice(0, MAX_PARTS - 1);
  const title = message.question ? message.title : null;
  return [...shown, ...platform.render({ title, text: TOO_LONG })];
};

const TOO_LONG = '… The rest is too long to show here. Read it in the app.';

const sendParts = async (
  { store, pace }: TransportDeps,
  platform: OutboundPlatform,
  { message, channel, parts, reach }: PlatformMessage & { parts: PlatformBody[] },
): Promise<PlatformSent> => {
  const done = await countSentParts(store, message.id);
  let last: PlatformSent = { verdict: 'sent', receipt: null };
  for (const [number, part] of parts.entries()) {
    if (number < done) continue;
    // The transport has already waited for the first one.
    if (number > done) await pace(message.channel_id ?? '', reach.signal);
    last = await platform.send(reach, channel.sender_id, part);
    if (last.verdict !== 'sent') return last;
    if (parts.length > 1) await keepPart(store, message.id, { number, receipt: last.receipt });
  }
  return last;
};

const countSentParts = async ({ db }: Store, messageId: string): Promise<number> => {
  const sent = db.selectFrom('sending_parts').select('number').where('sending_id', '=', messageId);
  return (await sent.execute()).length;
};

const keepPart = async (
  { db }: Store,
  sending_id: string,
  part: { number: number; receipt: string | null },
): Promise<void> => {
  await db
    .insertInto('sending_parts')
    .values({ sending_id, ...part })
    .onConflict((on) => on.doNothing())
    .execute();
};

const findChannel = async (
  { db }: Store,
  { user_id, channel_id }: OutboundMessageRow,
): Promise<PlatformMessage['channel'] | undefined> =>
  db
    .selectFrom('channels')
    .select(['id', 'sender_id', 'open_until'])
    .where(visibleTo(user_id))
    .where('id', '=', channel_id)
    .where('verified_at', 'is not', null)
    .executeTakeFirst();
