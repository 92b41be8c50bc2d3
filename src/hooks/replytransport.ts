import type { Clock } from '../kernel/clock.js';
import { hopHeader } from '../kernel/hops.js';
import type { Http } from '../kernel/http.js';
import type { SendResult, Transport } from '../outbound/module.js';
import {
  asText,
  type CallResult,
  callPlatform,
  type PlatformCallReply,
  platformRefusal,
} from '../providers/chat/call.js';
import {
  REPLY_MARK,
  type ReplyCall,
  type ReplyPlatform,
  type ReplyTarget,
} from '../providers/replies/platform.js';
import { replyPlatform } from '../providers/replies/platforms.js';
import type { AddressedMessage, OutboundMessageRow } from '../store/tables/outbox.js';
import type { Vault } from '../vault/module.js';
import { openHookCredential } from './forward.js';
import type { OpenedHook } from './hook.js';
import { openedHook } from './hook.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { ReplyPreset, ReplySettings } from './replies/contract.js';
import type { RepliesStore } from './replies/queries.js';
import type { RenderReply } from './replies/render.js';

export interface ReplyContent {
  preset: ReplyPreset;
  target: ReplyTarget | null;
  /** Markdown, from a model. */
  text: string;
  executionId: string;
}

export interface ReplyTransportDeps {
  clock: Clock;
  http: Http;
  vault: Pick<Vault, 'borrow' | 'used'>;
  directory: Pick<Directory, 'byId'>;
  replies: Pick<RepliesStore, 'lastSent'>;
  render: RenderReply;
  settled(message: OutboundMessageRow): void;
}

const MINUTE_MS = 60_000;
const DELAYS_MS = [5_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];

const failed = (error: string): SendResult => ({ verdict: 'failed', error });

/** Platforms do not detect repeats, so a reply that may have arrived is not sent again. */
export const createReplyTransport = (deps: ReplyTransportDeps): Transport => ({
  isRepeatable: false,
  delaysMs: DELAYS_MS,
  settled: deps.settled,
  send: async (message, signal) => {
    const content: ReplyContent = JSON.parse(message.content);
    const row = deps.directory.byId(message.hook_id ?? '')?.row;
    const hook = row && openedHook(row);
    const { reply } = hook?.actionConfig ?? {};
    if (!hook || reply?.preset !== content.preset || content.target === null) {
      return failed('The reply of the hook was removed or changed meanwhile');
    }
    const platform = replyPlatform(content.preset);
    const base = apiAddress(platform, reply, content.target);
    const token = await openHookCredential(deps.vault, {
      userId: hook.userId,
      credentialId: reply.credentialId,
      url: base,
      use: 'reply',
    });
    if (typeof token === 'string') return failed(token);
    const reach: ReplyReach = { deps, message, base, token: token.value, reply, signal };
    return platform
      ? postReply(reach, platform, { hook, content, target: content.target })
      : postJson(reach, content, hook);
  },
});

interface ReplyReach {
  deps: ReplyTransportDeps;
  message: AddressedMessage;
  /** Address of the API. */
  base: string;
  /** null without a credential. */
  token: string | null;
  reply: ReplySettings;
  signal: AbortSignal;
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');

const apiAddress = (
  platform: ReplyPlatform | null,
  { url }: ReplySettings,
  { place }: ReplyTarget,
): string => {
  if (platform === null) return place.url ?? '';
  if (url !== undefined) return withoutSlash(url) + platform.apiPath;
  return platform.service ?? '';
};

const postReply = async (
  reach: ReplyReach,
  platform: ReplyPlatform,
  { hook, content, target }: { hook: OpenedHook; content: ReplyContent; target: ReplyTarget },
): Promise<SendResult> => {
  const { deps, reply, base } = reach;
  const text = await deps.render(hook.userId, content);
  const server = reply.url === undefined ? serverOf(platform) : withoutSlash(reply.url);
  const send = async (call: ReplyCall): Promise<SendResult> => {
    const answer = await request(reach, platform, call);
    if (answer.verdict !== 'replied') return answer;
    const { id, url } = platform.posted(answer, target, server);
    const { status, excerpt } = answer;
    // The page of a login or a proxy also has the status 200.
    if (Object.keys(answer.body).length === 0) {
      const error = `${hostOf(base)} replied with status ${status}, but not with a comment. Check the address in the settings of the reply, and whether the comment is there`;
      return { verdict: 'unknown', error, status, excerpt };
    }
    const receipt = { id: ID.test(id) ? id : '', url: safeUrl(url), base };
    return { verdict: 'sent', receipt: JSON.stringify(receipt), status, excerpt };
  };
  const before: ReplyReceipt | null =
    reply.mode === 'update'
      ? JSON.parse((await deps.replies.lastSent(hook.id, target.object)) ?? 'null')
      : null;
  // The same object on another server has another comment.
  const id = before?.base === base ? before.id : '';
  if (id === '') return send(platform.create(target, text));
  const changed = await send(platform.update(target, id, text));
  return isDeleted(changed) ? send(platform.create(target, text)) : changed;
};

interface ReplyReceipt {
  id: string;
  url: string | null;
  /** Address of the API. */
  base: string;
}

/** Becomes a part of the path when the comment is changed. */
const ID = /^[\w.-]{1,100}$/;
const MAX_URL_LENGTH = 2000;

const safeUrl = (url: string | null): string | null =>
  url !== null && url.length <= MAX_URL_LENGTH && /^https?:\/\/[!-~]+$/.test(url) ? url : null;

const hostOf = (url: string): string => new URL(url).host;

/** The page of GitLab has the address of its API without the path. */
const serverOf = ({ service, apiPath }: ReplyPlatform): string =>
  (service ?? '').replace(new RegExp(`${apiPath}$`), '');

/** Somebody deleted the comment that would be changed. */
const isDeleted = (sent: SendResult): boolean =>
  sent.verdict === 'failed' &&
  (sent.status === 404 || sent.status === 410 || /not[_ ]found/i.test(sent.error));

const request = (
  { deps, base, token, signal, message }: ReplyReach,
  platform: Pick<ReplyPlatform, 'headers' | 'refusalIn'> | null,
  { method, path, body }: ReplyCall,
): Promise<CallResult> => {
  const headers =
    token === null ? {} : (platform?.headers(token) ?? { authorization: `Bearer ${token}` });
  return callPlatform(
    {
      http: deps.http,
      clock: deps.clock,
      receiver: '',
      settings: { baseUrl: base, values: {}, secrets: secretsIn(token ?? '') },
      signal,
    },
    {
      method,
      url: `${base}${path}`,
      headers: { ...headers, ...hopHeader(message.hops) },
      body,
      isPublic: true,
      refusalIn:
        platform?.refusalIn ?? ((reply) => platformRefusal(reply, refusalText(base, reply))),
    },
  );
};

/** The token of Jira Cloud follows the address of its account. */
const secretsIn = (token: string): Record<string, string> => ({
  token,
  part: token.slice(token.indexOf(':') + 1),
});

const REASONS: Record<number, string> = {
  401: 'Check the token of the credential',
  403: 'Check the permissions of the token',
  404: 'The object was deleted, the address is wrong, or the token may not see the object',
};
const MAX_REASON_LENGTH = 300;

const refusalText = (base: string, { status, headers, body }: PlatformCallReply): string => {
  const { message, error, errorMessages } = body;
  const listed = Array.isArray(errorMessages) ? errorMessages[0] : undefined;
  const said = [message, error, listed].find((each) => typeof each === 'string');
  const reason = said === undefined ? '' : `: "${said.slice(0, MAX_REASON_LENGTH)}"`;
  const to = status >= 300 && status < 400 ? `, a redirect to ${headers.location ?? ''}` : '';
  const next = to === '' ? REASONS[status] : 'Set the address of the reply to the new one';
  const text = `${hostOf(base)} replied with status ${status}${to.slice(0, MAX_REASON_LENGTH)}${reason}`;
  return next === undefined ? text : `${text}. ${next}`;
};

const postJson = async (
  reach: ReplyReach,
  { text, executionId }: ReplyContent,
  hook: OpenedHook,
): Promise<SendResult> => {
  const body = { text: text + REPLY_MARK, hookId: hook.id, hookName: hook.name, executionId };
  const answer = await request(reach, null, { method: 'POST', path: '', body });
  if (answer.verdict !== 'replied') return answer;
  const { status, excerpt } = answer;
  const url = safeUrl(asText(answer.body.url) || null);
  const receipt = JSON.stringify({ id: '', url, base: reach.base });
  return { verdict: 'sent', receipt, status, excerpt };
};
