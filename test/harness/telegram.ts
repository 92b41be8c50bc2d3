import type { ServerResponse } from 'node:http';
import { type ServedFile, serveFile, sizeOf } from './servedfile.js';
import { openTarget } from './target.js';
import { telegramFault } from './telegramrules.js';

export const TOKEN = '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11';
export const WEBHOOK_SECRET = 'a-secret_of-our-own-choice-of-32-signs';
/** As stored by `channels`. */
export const ADA = { id: '1111111', name: 'Ada Lovelace @ada' };
const FROM = {
  id: 1111111,
  is_bot: false,
  first_name: 'Ada',
  last_name: 'Lovelace',
  username: 'ada',
};
const CHAT = { id: 1111111, type: 'private', first_name: 'Ada' };

export interface TelegramCall {
  method: string;
  [key: string]: unknown;
}

/** The used part of the Bot API. */
export const openTelegram = async () => {
  const target = await openTarget();
  const calls: TelegramCall[] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  const files = new Map<string, ServedFile>();
  const downloads: string[] = [];
  target.answer = (response, nth) => {
    const { path = '', body } = target.received[nth - 1] ?? {};
    const [, bot, fileId = ''] = /^\/file\/bot([^/]+)\/documents\/(\w+)\.bin$/.exec(path) ?? [];
    const file = bot === TOKEN && files.get(fileId);
    if (file) {
      downloads.push(fileId);
      return serveFile(response, file);
    }
    const [, token, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (token !== TOKEN) return refuse(401, 'Unauthorized')(response);
    if (method === 'getMe')
      return say(response, 200, { ok: true, result: { username: 'adj_bot' } });
    const refusal = refusals.shift();
    if (refusal) return refusal(response);
    const call: TelegramCall = { method, ...JSON.parse(body ?? '') };
    if (method === 'getFile') return find(response, String(call.file_id));
    const fault = faultOf(call) ?? telegramFault(method, call);
    if (fault !== null) return refuse(400, `Bad Request: ${fault}`)(response);
    calls.push(call);
    const result = method === 'setWebhook' ? true : { message_id: calls.length };
    say(response, 200, { ok: true, result });
  };
  const find = (response: ServerResponse, file_id: string) => {
    const file = files.get(file_id);
    if (!file) return refuse(400, 'Bad Request: invalid file_id')(response);
    const file_size = sizeOf(file);
    if (file_size > MAX_BYTES) return refuse(400, 'Bad Request: file is too big')(response);
    const result = { file_id, file_unique_id: `u${file_id}`, file_size };
    say(response, 200, { ok: true, result: { ...result, file_path: `documents/${file_id}.bin` } });
  };
  return {
    baseUrl: target.url,
    files,
    /** Ids of the downloaded files, in order. */
    downloads,
    calls,
    /** Next replies to calls, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  };
};

/** Maximum size of a file that a bot may download, in bytes. */
const MAX_BYTES = 20 * 1024 * 1024;

/** Ports at which Telegram reaches a bot. */
const PORTS = ['', '443', '80', '88', '8443'];

/** Violation of the Bot API's rules by a call. `null` if there is none. */
const faultOf = ({ method, ...call }: TelegramCall): string | null => {
  if (method === 'setWebhook') return faultOfWebhook(call);
  const { text, entities, reply_markup }: TelegramMessage = JSON.parse(JSON.stringify(call));
  if (text === '') return 'message text is empty';
  if (text !== undefined && text.length > 4096) return 'message is too long';
  const isOutside = entities?.some(
    ({ offset, length }) => length < 1 || offset + length > (text ?? '').length,
  );
  if (isOutside) return 'entity is beyond the end of the message';
  const bytes = (reply_markup?.inline_keyboard ?? [])
    .flat()
    .map(({ callback_data }) => Buffer.byteLength(callback_data));
  return bytes.every((count) => count >= 1 && count <= 64) ? null : 'BUTTON_DATA_INVALID';
};

interface TelegramMessage {
  text?: string;
  entities?: { offset: number; length: number }[];
  reply_markup?: { inline_keyboard: { callback_data: string }[][] };
}

const faultOfWebhook = ({ url, secret_token }: Record<string, unknown>): string | null => {
  const { protocol, port } = new URL(String(url));
  if (protocol !== 'https:') return 'bad webhook: An HTTPS URL must be provided for webhook';
  if (!PORTS.includes(port)) {
    return 'bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443';
  }
  const isFit = /^[\w-]{1,256}$/.test(String(secret_token));
  return isFit ? null : 'secret token contains unallowed characters';
};

export type Telegram = Awaited<ReturnType<typeof openTelegram>>;

export const refuse =
  (status: number, description: string, parameters?: object) =>
  (response: ServerResponse): void =>
    say(response, status, { ok: false, error_code: status, description, parameters });

export interface Update {
  headers: Record<string, string>;
  body: string;
}

const updateOf = (update: object, secret = WEBHOOK_SECRET): Update => ({
  headers: { 'x-telegram-bot-api-secret-token': secret },
  body: JSON.stringify(update),
});

export const written = (update_id: number, text: string, more: object = {}): Update =>
  updateOf({
    update_id,
    message: { message_id: 1365, date: 1441645532, from: FROM, chat: CHAT, text, ...more },
  });

/** File of a message, as a document. */
export const documentOf = (file_id: string, file_name: string, more: object = {}) => ({
  document: { file_id, file_unique_id: `u${file_id}`, file_name, ...more },
  text: undefined,
});

/** A button of the bot's message, pressed by Ada by default. */
export const pressed = (update_id: number, data: string, from: object = FROM): Update =>
  updateOf({
    update_id,
    callback_query: {
      ...{ id: '4382bfdwdsb323b2d9', from, data, chat_instance: '1' },
      message: { message_id: 7, chat: CHAT, date: 1441645532, text: 'Approve?' },
    },
  });

const say = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
