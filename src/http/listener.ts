import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import { type Clock, systemClock } from '../kernel/clock.js';
import { isUploading } from '../kernel/form.js';
import {
  type ProblemDeps,
  problemHeaders,
  rawReply,
  resolveRequestId,
  toProblemBoom,
} from './replies.js';

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
const HEADERS_MS = 10_000;
const REQUEST_MS = 15_000;
const HEADER_BYTES = 16 * 1024;
/** In milliseconds. The reply is lost if the connection closes with unread bytes. */
const LINGER_MS = 1_000;

export const SOCKET_PATH = '/ws';

/** A WebSocket anywhere, or any request on its path. */
export const isForSocket = (request: IncomingMessage): boolean =>
  asksForWebSocket(request) || parseRequestPath(request) === SOCKET_PATH;

export const asksForWebSocket = (request: IncomingMessage): boolean =>
  request.headers.upgrade?.toLowerCase() === 'websocket';

export const parseRequestPath = (request: IncomingMessage): string | undefined =>
  request.url?.split('?', 1)[0]?.replace(/(.)\/$/, '$1');

/**
 * hapi's payload timeout never fires on a slow client; Node's does. Node refuses requests without a
 * Host without a body, so the server does it itself.
 */
export const createListener = (): http.Server =>
  http.createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    connectionsCheckingInterval: 500,
    keepAliveTimeout: 65_000,
    maxHeaderSize: HEADER_BYTES,
    requireHostHeader: false,
    // Node before 24.9 ignores this option: see `decline` in socket/sockets.ts.
    shouldUpgradeCallback: isForSocket,
  });

/** RFC 9112, section 3.2. */
export const requireHost = ({
  headers,
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'httpVersion' | 'rawHeaders'>): void => {
  const isRequired = headers.host === undefined && httpVersion === '1.1';
  if (!isRequired && !hasSeveralHosts(rawHeaders)) return;
  const boom = Boom.badRequest(
    isRequired ? 'HTTP/1.1 requires the Host header' : 'The request has more than one Host header',
  );
  boom.output.headers.connection = 'close';
  throw boom;
};

/**
 * `rawHeaders` alternates names and values. Node keeps the first Host. Injected requests have none.
 */
export const hasSeveralHosts = (rawHeaders: string[] = []): boolean => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count > 1;
};

export interface ListenerDeps extends ProblemDeps {
  clock: Clock;
  mintRequestId(): string;
}

export const replyToRefusals = (listener: http.Server, deps: ListenerDeps): void => {
  refuseExpectations(listener, deps);
  const responses = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  for (const event of ['request', 'checkContinue']) {
    listener.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) =>
      responses.set(socket, response),
    );
  }
  // hapi's own listener replies 400 to all, mostly without a body.
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: Error & { code?: string }, socket) => {
    // Forms have a deadline of their own.
    if (error.code === REQUEST_TIMEOUT && isUploading(socket)) return;
    // After an invalid chunk, each further one is an error too.
    if (refused.has(socket)) return;
    refused.add(socket);
    const response = responses.get(socket);
    const refuse = () => endWith(socket, toClientErrorBoom(error.code), deps);
    if (!response || response.writableFinished) refuse();
    // The invalid request follows one that is still in progress.
    else if (response.req.complete) response.once('close', refuse);
    else if (response.headersSent) socket.destroy();
    else refuse();
  });
};

/** Node answers without a body, before hapi. */
const refuseExpectations = (listener: http.Server, deps: ListenerDeps): void => {
  listener.on('checkExpectation', ({ headers, url = '' }, response) => {
    const requestId = resolveRequestId(headers['x-request-id'], deps.mintRequestId);
    const boom = Boom.expectationFailed(
      'Unsupported Expect header. Only 100-continue is supported',
    );
    const { output } = toProblemBoom(boom, { requestId, path: url }, deps);
    response.writeHead(output.statusCode, problemHeaders(requestId));
    response.end(JSON.stringify(output.payload));
  });
};

const toClientErrorBoom = (code: string | undefined): Boom.Boom => {
  switch (code) {
    case REQUEST_TIMEOUT:
      return Boom.clientTimeout(
        `The request was not received within ${REQUEST_MS / 1000} s, or its headers within ${HEADERS_MS / 1000} s. Send the request again`,
      );
    case 'HPE_HEADER_OVERFLOW':
      return new Boom.Boom(
        `The request headers exceed ${HEADER_BYTES} bytes. Send fewer or shorter headers`,
        {
          statusCode: 431,
        },
      );
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return Boom.entityTooLarge(
        'The chunk extensions are too long. Send the body without chunk extensions',
      );
    default:
      return Boom.badRequest('The request is not valid HTTP');
  }
};

const endWith = (socket: Duplex, boom: Boom.Boom, deps: ListenerDeps): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = deps.mintRequestId();
  const { output } = toProblemBoom(boom, { requestId, path: '' }, deps);
  const text = rawReply(output, { date: new Date(deps.clock.now()).toUTCString() });
  // Otherwise a slow request could still be read to its end and take effect.
  if (output.statusCode === 408) socket.end(text, () => socket.destroy());
  else {
    socket.end(text);
    systemClock.after(LINGER_MS, () => socket.destroy(), { ref: false });
  }
};
