import {
  asText,
  type CallResult,
  callPlatform,
  type PlatformCall,
  platformRefusal,
  type RefusalIn,
  toPlatformCheck,
  toPlatformSent,
} from './call.js';
import { splitIntoMessages } from './markdown/fit.js';
import type { TextLine } from './markdown/lines.js';
import { messageLines } from './markdown/message.js';
import { plainLine, writePlain } from './markdown/plain.js';
import type { ChannelMessage, OutboundPlatform, PlatformReach } from './platform.js';

/** ntfy turns longer messages into attachments (`message-size-limit`). */
const MAX_MESSAGE_BYTES = 4_096;
const MAX_JSON_LENGTH = 2 * MAX_MESSAGE_BYTES;
/** Phones show no more of a title. */
const MAX_TITLE_LENGTH = 200;
/** Bytes of the JSON besides the message. */
const JSON_OVERHEAD = 2_048;

/** 1 is the lowest priority, 5 the highest, which even a silenced phone shows. */
const DEFAULT_PRIORITY = 3;
const URGENT = 4;

const TOPIC = /^[\w-]{1,64}$/;

export const ntfy: OutboundPlatform = {
  kind: 'ntfy',
  baseUrl: 'https://ntfy.sh',
  fields: [
    {
      name: 'accessToken',
      doc: 'Optional, for a server that requires authentication to publish. Create it with ntfy token add USER: tk_…',
      isSecret: true,
    },
  ],
  setup: () => [
    'Without an account, everybody who knows the name of a topic on ntfy.sh can read and write this topic. Use a long random name',
    'For your own server: set the base URL to its URL and accessToken to the token of a user who may publish to the topics',
    'In the ntfy app, subscribe to a topic with a random name, for example from: openssl rand -hex 16',
    'Run adjutant channels add ntfy TOPIC and redeem the code sent to the topic',
  ],

  render: (message) => {
    const { title, text } = placed(message);
    const lines = messageLines({ ...message, title: null, text });
    const pieces = splitIntoMessages(lines, { most: MAX_MESSAGE_BYTES, sizeOf: computeLineSize });
    const priority = message.isUrgent ? URGENT : DEFAULT_PRIORITY;
    // Without the flag `markdown` nothing is markup.
    return pieces.map((piece) => ({
      message: writePlain(piece),
      ...(title && { title }),
      priority,
    }));
  },
  send: async (reach, to, part) => {
    const topic = topicIn(to, reach.settings.baseUrl);
    if (topic === null) return { verdict: 'failed', error: elsewhere(to) };
    const sent = await call(reach, { url: '', body: { topic, ...part } });
    return toPlatformSent(sent, ({ body }) => asText(body.id) || null);
  },
  check: async (reach) => {
    if (!reach.settings.secrets.accessToken) {
      const health = await call(reach, { method: 'GET', url: 'v1/health' });
      if (health.verdict === 'replied' && health.body.healthy !== true) {
        return { ok: false, error: 'No ntfy server responds at the base URL' };
      }
      return toPlatformCheck(health, () => `${reach.settings.baseUrl}, without an account`);
    }
    const account = await call(reach, { method: 'GET', url: 'v1/account' });
    return toPlatformCheck(
      account,
      ({ body }) => `${asText(body.username)} on ${reach.settings.baseUrl}`,
    );
  },
};

/**
 * `https://ntfy.sh/name` from the URL or the name; null if invalid. Includes the server, since
 * topics are per server.
 */
export const parseTopicUrl = (typed: string, baseUrl: string): string | null => {
  const input = typed.trim();
  const address = TOPIC.test(input) ? `${baseUrl}/${input}` : input.replace(/\/+$/, '');
  return topicIn(address, baseUrl) === null ? null : address;
};

const topicIn = (address: string, baseUrl: string): string | null => {
  const name = address.startsWith(`${baseUrl}/`) ? address.slice(baseUrl.length + 1) : '';
  return TOPIC.test(name) ? name : null;
};

const elsewhere = (address: string): string =>
  `The topic is on ${URL.canParse(address) ? new URL(address).origin : 'another server'}, which is not the configured server. Link the topic again`;

const placed = ({ title, text }: ChannelMessage): Pick<ChannelMessage, 'title' | 'text'> => {
  const one = title?.replace(/\s+/g, ' ').trim() ?? '';
  if (one.length <= MAX_TITLE_LENGTH) return { title: one || null, text: text || one };
  return { title: null, text: `${one}\n${text}` };
};

/** Bytes, scaled to the limit of the whole JSON. */
const computeLineSize = (line: TextLine): number => {
  const text = `${plainLine(line)}\n`;
  const inJson =
    (Buffer.byteLength(JSON.stringify(text)) * MAX_MESSAGE_BYTES) /
    (MAX_JSON_LENGTH - JSON_OVERHEAD);
  return Math.max(Buffer.byteLength(text), inJson);
};

const call = (reach: PlatformReach, requested: PlatformCall): Promise<CallResult> => {
  const { baseUrl, secrets } = reach.settings;
  const { accessToken } = secrets;
  return callPlatform(reach, {
    ...requested,
    url: `${baseUrl}/${requested.url}`,
    headers: { ...(accessToken && { authorization: `Bearer ${accessToken}` }) },
    refusalIn,
  });
};

const refusalIn: RefusalIn = (reply) => {
  const reason = asText(reply.body.error);
  return platformRefusal(reply, `ntfy returned ${reply.status}${reason && `: ${reason}`}`);
};
