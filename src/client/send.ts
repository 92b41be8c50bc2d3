import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { systemClock } from '../kernel/clock.js';

export interface FetchRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal: AbortSignal;
}

export interface FetchResponse extends Pick<Response, 'ok' | 'status' | 'statusText' | 'text'> {
  headers: Pick<Headers, 'get'>;
}

export type FetchLike = (url: string, sent: FetchRequest) => Promise<FetchResponse>;

const CONNECT_MS = 10_000;

/**
 * Like fetch, without redirects. Loading fetch would take a tenth of a second. Throws TypeError
 * with a cause if no response came.
 */
export const send: FetchLike = async (url, { method, headers, body, signal }) => {
  // Loaded with the first request: `adjutant --help` makes none.
  const scheme = url.startsWith('https:') ? import('node:https') : import('node:http');
  const { request: open } = await scheme;
  try {
    const request = open(url, {
      method,
      headers: { accept: '*/*', 'user-agent': 'adjutant', ...headers, ...buildLengthHeader(body) },
      signal,
    });
    limitConnecting(request);
    // The request may fail again after the first error.
    request.on('error', () => {});
    request.end(body);
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (!response) throw new Error('no response');
    return received(response);
  } catch (error) {
    throw lost(error);
  }
};

/** Node does not send Content-Length for a DELETE, so no server would read the body. */
const buildLengthHeader = (body: FetchRequest['body']): Record<string, string> =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };

const limitConnecting = (request: ClientRequest): void => {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = Object.assign(new Error('connect timed out'), { code: 'ETIMEDOUT' });
    const cancel = systemClock.after(CONNECT_MS, () => request.destroy(late));
    for (const event of ['connect', 'close']) socket.once(event, cancel);
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
