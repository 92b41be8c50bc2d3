import { createHmac } from 'node:crypto';
import { isSame, isTimely } from '../../kernel/signature.js';
import { buttonScopeIn } from './buttonscopes.js';
import { asObject, asText, parseJsonObject } from './call.js';
import type { Inbound, MessageEvent, Platform, PlatformFile } from './platform.js';

/** `replyTo` of a slash command. */
export const COMMAND = 'command';

const SIGNATURE = /^v0=([0-9a-f]{64})$/;
const IGNORED = { kind: 'ignored' } as const;

/** HMAC-SHA256 over `v0:timestamp:body`, at most five minutes old. */
export const isSlackSignature: Platform['verify'] = ({ headers, body }, { secrets }, now) => {
  const at = headers['x-slack-request-timestamp'] ?? '';
  const signature = SIGNATURE.exec(headers['x-slack-signature'] ?? '')?.[1];
  if (!secrets.signingSecret || signature === undefined || !isTimely(at, now)) return false;
  const wanted = createHmac('sha256', secrets.signingSecret)
    .update(`v0:${at}:`)
    .update(body)
    .digest();
  return isSame(Buffer.from(signature, 'hex'), wanted);
};

/** JSON of the Events API, a slash command form, or a form with `payload` of a button. */
export const parseSlack = (body: Buffer): Inbound => {
  const text = body.toString('utf8');
  if (text.trimStart().startsWith('{')) return ofEvents(parseJsonObject(text));
  const form = new URLSearchParams(text);
  const payload = form.get('payload');
  return payload === null ? ofCommand(form) : ofButton(parseJsonObject(payload));
};

const ofEvents = (body: Record<string, unknown>): Inbound => {
  if (body.type === 'url_verification') {
    return { kind: 'challenge', reply: { challenge: asText(body.challenge) } };
  }
  if (body.type !== 'event_callback') return IGNORED;
  const event = asObject(body.event);
  const user = asText(event.user);
  const eventId = asText(body.event_id);
  const text = readable(asText(event.text));
  const files = filesFor(event);
  const hasNoText = text === '' && (files.length > 0 || isFile(event));
  if (!isSpoken(event) || !user || !eventId || !(text || hasNoText)) return IGNORED;
  // A guest in a shared channel belongs to another team, which may use the same user id.
  const team = asText(event.user_team) || asText(event.team) || asText(body.team_id);
  return {
    kind: 'message',
    sender: { id: `${team}:${user}`, name: user },
    text,
    eventId,
    ...parseReplyTarget(event),
    ...(hasNoText && { hasNoText }),
    ...(files.length > 0 && { files }),
  };
};

/** Channel and thread in a `replyTo`; direct messages have no thread. */
const IN_THREAD = /^(\w+):([\d.]+)$/;

export const threadIn = (replyTo: string | null): { channel: string; thread_ts: string } | null => {
  const [, channel, thread_ts] = IN_THREAD.exec(replyTo ?? '') ?? [];
  return channel && thread_ts ? { channel, thread_ts } : null;
};

/**
 * Place of a message, and the receipt of the thread root if the daemon wrote it. Other messages of
 * a thread are not read, and replies are private.
 */
const parseReplyTarget = (
  event: Record<string, unknown>,
): Pick<MessageEvent, 'replyTo' | 'repliesElsewhere' | 'quoted'> => {
  const [channel, ts, thread] = [event.channel, event.ts, event.thread_ts].map(asText);
  const isDirect = event.channel_type === 'im';
  const receipt = `${channel}:${thread}`;
  return {
    replyTo: isDirect && !thread ? (channel ?? '') : `${channel}:${thread || ts}`,
    ...(!isDirect && { repliesElsewhere: true as const }),
    ...(thread && { quoted: { text: '', receipt } }),
  };
};

/** In a channel, a file is for the people there, except a recording that mentions the bot. */
const filesFor = (event: Record<string, unknown>): PlatformFile[] => {
  const files = filesIn(event.files);
  return isFile(event) ? files : files.filter(({ isVoice }) => isVoice);
};

/** Sent directly. */
const isFile = ({ channel_type, files }: Record<string, unknown>): boolean =>
  channel_type === 'im' && Array.isArray(files) && files.length > 0;

/** By URL if Slack stores the file, else by id, as in shared channels. */
const filesIn = (files: unknown): PlatformFile[] =>
  (Array.isArray(files) ? files.map(asObject) : [])
    .filter(({ is_external }) => is_external !== true)
    .map((file) => ({
      name: asText(file.name) || asText(file.title) || null,
      bytes: typeof file.size === 'number' ? file.size : null,
      ref: asText(file.url_private_download) || asText(file.id),
      ...voiceFlag(file),
    }))
    .filter(({ ref }) => ref !== '');

/** A clip recorded in Slack may have a video type, or none. */
export const voiceFlag = ({
  mimetype,
  subtype,
}: Record<string, unknown>): Pick<PlatformFile, 'isVoice'> =>
  subtype === 'slack_audio' || asText(mimetype).startsWith('audio/') ? { isVoice: true } : {};

/** Not a bot's own message, an edit, a deletion or a join. */
const isSpoken = ({ type, channel_type, subtype, bot_id }: Record<string, unknown>): boolean => {
  if (bot_id !== undefined || (subtype !== undefined && subtype !== 'file_share')) return false;
  return type === 'app_mention' || (type === 'message' && channel_type === 'im');
};

const ofCommand = (form: URLSearchParams): Inbound => {
  const [team, user, eventId] = ['team_id', 'user_id', 'trigger_id'].map((key) => form.get(key));
  const command = form.get('command');
  if (!team || !user || !eventId || !command) return IGNORED;
  const text = readable(form.get('text') ?? '');
  return {
    kind: 'message',
    sender: { id: `${team}:${user}`, name: form.get('user_name') || user },
    // Text after the bot's own command is a message to the bot.
    text: command === '/adjutant' ? text || '/help' : `${command} ${text}`,
    eventId,
    replyTo: COMMAND,
  };
};

/** Button action: `approve`, `approve_host`, `deny`. */
const CHOICE = /^(approve|deny)(?:_(conversation|host))?$/;

const ofButton = (payload: Record<string, unknown>): Inbound => {
  const { trigger_id, actions } = payload;
  const [user, team, container] = [payload.user, payload.team, payload.container].map(asObject);
  const action = asObject(Array.isArray(actions) ? actions[0] : null);
  const [approvalId, digest] = asText(action.value).split(':');
  const [, choice, scope] = CHOICE.exec(asText(action.action_id)) ?? [];
  const id = asText(user?.id);
  if (payload.type !== 'block_actions' || !choice || !approvalId || !digest || !id) {
    return IGNORED;
  }
  return {
    kind: 'button',
    sender: { id: `${asText(user?.team_id) || asText(team?.id)}:${id}`, name: asText(user?.name) },
    approvalId,
    digest,
    approved: choice !== 'deny',
    ...(scope && { scope: buttonScopeIn(scope) }),
    eventId: asText(trigger_id),
    replyTo: `${asText(container?.channel_id)}:${asText(container?.message_ts)}`,
  };
};

/** Slack writes links and mentions in angle brackets, and typed brackets as entities. */
const readable = (text: string): string =>
  text
    .replace(/^\s*<@[^>]*>\s*/, '')
    .replace(/<([^<>|]*)\|([^<>]*)>/g, '$2 ($1)')
    .replace(/<([^<>|]*)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
