import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type ServedFile, serveFile, sizeOf } from './servedfile.js';
import { slackFault } from './slackrules.js';
import { openTarget } from './target.js';

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
export const BOT_TOKEN = 'xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcBrzbqgy';
export const TEAM = 'T1DC2JH3J';
export const ADA = { id: 'T1DC2JH3J:U2CERLKJA', name: 'U2CERLKJA' };
/** Direct channel of the bot with her. */
const DIRECT = 'D024BE91L';

export interface SlackCall {
  method: string;
  [key: string]: unknown;
}

/** The used part of Slack's Web API. */
export const openSlack = async () => {
  const target = await openTarget();
  const calls: SlackCall[] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  const files = new Map<string, ServedFile>();
  target.answer = (response, nth) => {
    const { path = '', headers, body } = target.received[nth - 1] ?? {};
    const method = path.replace('/api/', '');
    const [, fileId = ''] = /^\/files-pri\/T1DC2JH3J-(\w+)\/download\//.exec(path) ?? [];
    const isApp = headers?.authorization === `Bearer ${BOT_TOKEN}`;
    const file = files.get(fileId);
    // A client without a login is redirected to the login page.
    if (file && !isApp) return void response.writeHead(302, { location: '/?redir=' }).end();
    if (file) return serveFile(response, file);
    if (!isApp) return refuse('invalid_auth')(response);
    const [, asked] = /^files\.info\?file=(\w+)$/.exec(method) ?? [];
    if (asked !== undefined) {
      const known = files.get(asked);
      if (!known) return refuse('file_not_found')(response);
      return say(response, 200, { ok: true, file: objectOf(asked, known) });
    }
    if (method === 'auth.test') {
      return say(response, 200, { ok: true, user: 'adjutant', team: 'Analytical Engines' });
    }
    const refusal = refusals.shift();
    if (refusal) return refusal(response);
    const message = JSON.parse(body ?? '');
    const fault = slackFault(message);
    if (fault !== null) return refuse(fault)(response);
    calls.push({ method, ...message });
    say(response, 200, { ok: true, channel: DIRECT, ts: `1503435956.00000${calls.length}` });
  };
  const objectOf = (id: string, file: ServedFile) => {
    const { name = `${id}.txt`, url } = file;
    const own = `${target.url}/files-pri/${TEAM}-${id}/download/${encodeURIComponent(name)}`;
    const address = url ?? own;
    return {
      ...{ id, name, title: name, mimetype: 'text/plain', filetype: 'text', mode: 'hosted' },
      ...{ is_external: false, size: sizeOf(file), url_private: address.replace('download/', '') },
      url_private_download: address,
    };
  };
  return {
    baseUrl: `${target.url}/api`,
    files,
    /** File object as part of a message. */
    fileObject: (id: string) => objectOf(id, files.get(id) ?? { content: '' }),
    calls,
    /** Texts of the calls, as shown to a reader. */
    texts: () => calls.map(({ text }) => shown(String(text))),
    /** Next replies to messages, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  };
};

export type Slack = Awaited<ReturnType<typeof openSlack>>;

/** Slack refuses mostly with status 200. */
export const refuse =
  (error: string, status = 200, headers = {}) =>
  (response: ServerResponse): void =>
    say(response, status, { ok: false, error }, headers);

/** Accepts the message and loses the reply. */
export const lose = (response: ServerResponse): void => void response.destroy();

export interface Request {
  headers: Record<string, string>;
  body: string;
}

/** Signed request of Slack. `at` is in milliseconds. */
export const signed = (body: string, at: number, secret = SIGNING_SECRET): Request => {
  const timestamp = String(Math.floor(at / 1000));
  const mac = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    body,
    headers: { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${mac}` },
  };
};

interface Written {
  event_id?: string;
  event?: Record<string, unknown>;
}

export const written = (text: string, at: number, { event_id, event }: Written = {}): Request => {
  const message = {
    ...{ type: 'message', channel_type: 'im', channel: DIRECT, user: 'U2CERLKJA', team: TEAM },
    ...{ text, ts: '1503435956.000247', ...event },
  };
  const body = {
    ...{ type: 'event_callback', team_id: TEAM, api_app_id: 'A0PNCHHK2' },
    ...{ event_id: event_id ?? `Ev${text}`, event: message },
  };
  return signed(JSON.stringify(body), at);
};

export const commanded = (command: string, text: string, at: number): Request => {
  const form = {
    ...{ team_id: TEAM, user_id: 'U2CERLKJA', user_name: 'ada', command, text },
    ...{ channel_id: DIRECT, trigger_id: `13345224609.${at}.${command}${text}` },
  };
  return signed(String(new URLSearchParams(form)), at);
};

/** A button of the bot's message, pressed by Ada by default. */
export const pressed = (
  button: { action_id: string; value: string },
  at: number,
  user = 'U2CERLKJA',
): Request => {
  const payload = {
    ...{ type: 'block_actions', trigger_id: `t${at}${user}`, team: { id: TEAM } },
    user: { id: user, team_id: TEAM, name: 'ada' },
    container: { type: 'message', channel_id: DIRECT, message_ts: '1503435956.000001' },
    actions: [{ type: 'button', block_id: 'b', ...button }],
  };
  return signed(String(new URLSearchParams({ payload: JSON.stringify(payload) })), at);
};

export const buttonsOf = (call: SlackCall | undefined): { action_id: string; value: string }[] => {
  const blocks = Array.isArray(call?.blocks) ? call.blocks : [];
  return blocks.find(({ type }) => type === 'actions')?.elements ?? [];
};

const shown = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const say = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
};
