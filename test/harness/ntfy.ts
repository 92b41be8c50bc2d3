import type { ServerResponse } from 'node:http';
import { openTarget } from './target.js';

export const ACCESS_TOKEN = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
export const TOPIC = 'd2f6c1a9e07b4c53';

export interface Published {
  topic: string;
  message: string;
  title?: string;
  priority?: number;
}

/** Fields of a message as JSON (ntfy, Publish as JSON). */
const FIELDS = [
  ...['topic', 'message', 'title', 'tags', 'priority', 'actions', 'click', 'attach', 'markdown'],
  ...['icon', 'filename', 'delay', 'email', 'call'],
];

/** The used part of an ntfy server. With a token it requires authentication. */
export const openNtfy = async ({ token = '' } = {}) => {
  const target = await openTarget();
  const published: Published[] = [];
  const refusals: ((response: ServerResponse) => void)[] = [];
  target.answer = (response, nth) => {
    const { method, path, headers, body = '' } = target.received[nth - 1] ?? {};
    const given = headers?.authorization;
    if (given !== undefined && given !== `Bearer ${token}`) {
      return refuse(401, 40101, 'unauthorized')(response);
    }
    const asked = `${method} ${path}`;
    if (asked === 'GET /v1/health') return say(response, 200, { healthy: true });
    if (asked === 'GET /v1/account') {
      return say(response, 200, {
        username: given ? 'ada' : '*',
        role: given ? 'user' : 'anonymous',
      });
    }
    if (asked !== 'POST /') return refuse(404, 40401, 'page not found')(response);
    if (token !== '' && given === undefined) return refuse(403, 40301, 'forbidden')(response);
    const refusal = refusals.shift();
    if (refusal) return refusal(response);
    const fault = ntfyFault(body);
    if (fault) return refuse(...fault)(response);
    const message: Published = JSON.parse(body);
    published.push(message);
    const kept = { id: `hwQ2YpKdmg${published.length}`, time: 1635528741, event: 'message' };
    say(response, 200, { ...kept, expires: 1635528742, topic: message.topic });
  };
  return {
    baseUrl: target.url,
    address: target.address,
    published,
    /** Next replies to messages, one each. */
    refuse: (...next: ((response: ServerResponse) => void)[]) => void refusals.push(...next),
    close: target.close,
  };
};

/** Status, code and text of a refusal. */
type NtfyFault = Parameters<typeof refuse>;

/** Violation of the server's rules. `null` if there is none. */
export const ntfyFault = (body: string): NtfyFault | null => {
  if (Buffer.byteLength(body) > 2 * 4096) {
    return [413, 41301, 'message or JSON body too large'];
  }
  const { topic, message = '', title = '', priority = 3, ...rest }: Published = JSON.parse(body);
  const unknown = Object.keys(rest).find((name) => !FIELDS.includes(name));
  if (unknown) return [400, 40024, `request body must be valid JSON: ${unknown}`];
  if (!/^[-_A-Za-z0-9]{1,64}$/.test(topic)) return [400, 40009, 'topic invalid'];
  if (['docs', 'static', 'file', 'app', 'account', 'settings'].includes(topic)) {
    return [400, 40010, 'topic name is not allowed'];
  }
  if (![1, 2, 3, 4, 5].includes(priority)) return [400, 40007, 'invalid priority'];
  // The server would turn a longer message into a file, and has no file storage.
  if (Buffer.byteLength(message) > 4096) return [400, 40014, 'attachments not allowed'];
  // A title becomes an HTTP header of the server.
  return /[\r\n]/.test(title) ? [400, 40024, 'invalid title'] : null;
};

export const refuse =
  (status: number, code: number, error: string) =>
  (response: ServerResponse): void =>
    say(response, status, { code, http: status, error, link: 'https://ntfy.sh/docs' });

/** Code in the last published message. */
export const codeIn = (published: Published[]): string =>
  /The code is (\w{6})\./.exec(published.at(-1)?.message ?? '')?.[1] ?? '';

const say = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
