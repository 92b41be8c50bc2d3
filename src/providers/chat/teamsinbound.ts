import { asObject, asText, parseJsonObject } from './call.js';
import type { Inbound, QuotedMessage } from './platform.js';

const TOLERANCE_MS = 5 * 60_000;
const MENTION = /^\s*(?:<(?:p|div)>\s*)?<at>[^<>]*<\/at>(?:&nbsp;|\s)*/i;
const BREAK = /<br\s*\/?>|<\/(?:p|div|li)>/gi;
const TAG =
  /<\/?(?:a|at|attachment|b|blockquote|br|code|div|em|h[1-6]|i|img|li|ol|p|pre|s|span|strong|u|ul)\b[^<>]*>/gi;
const ENTITY = /&(?:amp|lt|gt|quot|apos|nbsp|#39);/g;
const CHARACTERS: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&#39;': "'",
  '&nbsp;': ' ',
};

/** The signed time may differ by five minutes; older activities count as replays. */
export const isRecent = (body: Buffer, now: number): boolean => {
  const at = Date.parse(asText(parseJsonObject(body.toString('utf8')).timestamp));
  return Math.abs(now - at) <= TOLERANCE_MS;
};

export const parseTeams = (body: Buffer): Inbound => {
  const activity = parseJsonObject(body.toString('utf8'));
  const conversation = asObject(activity.conversation);
  const from = asObject(activity.from);
  const tenant = asText(asObject(asObject(activity.channelData).tenant).id);
  const person = asText(from.aadObjectId) || asText(from.id);
  const team = asText(conversation.tenantId) || tenant;
  const text = readable(asText(activity.text));
  const activityId = asText(activity.id);
  const isSaid = activity.type === 'message' && text !== '' && activityId !== '';
  if (isSaid && (team === '' || person === '')) return { kind: 'ignored', reason: NAMELESS };
  if (!isSaid) return { kind: 'ignored' };
  return {
    kind: 'message',
    sender: { id: `${team}:${person}`, name: asText(from.name) },
    text,
    eventId: `${asText(conversation.id)}:${activityId}`,
    replyTo: asText(conversation.id),
    // Outgoing webhooks reply in the channel.
    isReadByOthers: true,
    ...(isForwarded(activity.attachments) && { isForwarded: true }),
    ...quotedIn(activity.attachments, person),
  };
};

const NAMELESS = 'it contains no tenant or no sender';

const quotedIn = (attachments: unknown, person: string): { quoted?: QuotedMessage } => {
  const all = Array.isArray(attachments) ? attachments.map(asObject) : [];
  const found = all.find(({ contentType }) => contentType === 'messageReference');
  const { messagePreview, messageSender } = parseJsonObject(asText(found?.content));
  const text = asText(messagePreview).trim();
  if (text === '') return {};
  const isOwn = asText(asObject(asObject(messageSender).user).id) === person;
  return { quoted: { text, by: isOwn ? 'sender' : 'other' } };
};

const isForwarded = (attachments: unknown): boolean =>
  Array.isArray(attachments) &&
  attachments.some((one) => asObject(one).contentType === 'forwardedMessageReference');

/** Teams sends HTML, starting with the mention of the recipient. */
const readable = (text: string): string =>
  text
    .replace(MENTION, '')
    .replace(BREAK, '\n')
    .replace(TAG, '')
    .replace(ENTITY, (entity) => CHARACTERS[entity] ?? entity)
    .trim();
