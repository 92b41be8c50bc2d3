import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

/** What a request is made of; fetch takes it too. */
export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal: AbortSignal;
}

/** The part of fetch's Response that is read here. */
export interface FetchResponse {
  ok: boolean;
  status: number;
  statusText: string;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** The part of fetch that a client needs. */
export type FetchLike = (url: string, sent: FetchRequest) => Promise<FetchResponse>;

const CONNECT_MS = 10_000;

/**
 * One request, whatever the answer; redirects are not followed. As fetch does it, which takes a
 * tenth of a second to load where this takes none. TypeError: no answer; its cause says why.
 */
export const send: FetchLike = async (url, { method, headers, body, signal }) => {
  const isSecure = url.startsWith('https:');
  const open = isSecure ? (await import('node:https')).request : httpRequest;
  try {
    const request = open(url, {
      method,
      headers: { accept: '*/*', 'user-agent': 'adjutant', ...headers, ...lengthOf(body) },
      signal,
    });
    limitConnecting(request);
    // It may fail again once somebody else has heard of it; a second failure tells nothing.
    request.on('error', () => {});
    request.end(body);
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (!response) throw new Error('no response');
    return received(response);
  } catch (error) {
    throw lost(error);
  }
};

/** Node says nothing of the body of a DELETE by itself, and no server would then read one. */
const lengthOf = (body: FetchRequest['body']): Record<string, string> =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };

/** A host that says nothing at all is known as such before the answer is due. */
const limitConnecting = (request: ClientRequest): void => {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error('connect timed out'), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => request.destroy(late), CONNECT_MS);
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  });
};

const received = (response: IncomingMessage): FetchResponse => {
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = response;
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText,
    headers: { get: (name) => headers[name]?.toString() ?? null },
    text: () =>
      text(response).catch((error) => {
        throw lost(error);
      }),
  };
};

const lost = (cause: unknown): TypeError => new TypeError('The request failed', { cause });
