import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import type { Clock } from '../kernel/clock.js';
import { isUploading } from '../kernel/form.js';
import { type ProblemDeps, problemHeaders, problemOf, rawReply, requestIdOf } from './replies.js';

const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';
const HEADERS_MS = 10_000;
const REQUEST_MS = 15_000;
const HEADER_BYTES = 16 * 1024;
/**
 * Time before a refused connection is closed, in milliseconds. The reply is lost if the connection
 * closes while there are unread bytes.
 */
const LINGER_MS = 1_000;

/**
 * Makes the HTTP server. hapi's own payload timeout never fires on a slow client; Node's does. The
 * server refuses requests without a Host itself, since Node refuses them without a body.
 */
export const createListener = (): http.Server =>
  http.createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: HEADERS_MS,
    connectionsCheckingInterval: 500,
    keepAliveTimeout: 65_000,
    maxHeaderSize: HEADER_BYTES,
    requireHostHeader: false,
  });

/**
 * Refuses a request without a Host, or with several, with 400 (RFC 9112, section 3.2).
 */
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

/** True if the names and values of headers, in turn, have more than one Host. Node keeps the first. Injected requests have none. */
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

/**
 * Replies with the standard error body to requests that never reach hapi, or that break off before.
 */
export const replyToRefusals = (listener: http.Server, deps: ListenerDeps): void => {
  refuseExpectations(listener, deps);
  const responses = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  for (const event of ['request', 'checkContinue']) {
    listener.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) =>
      responses.set(socket, response),
    );
  }
  // hapi's own listener replies 400 to all of them, mostly without a body.
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: Error & { code?: string }, socket) => {
    // Forms have a deadline of their own.
    if (error.code === REQUEST_TIMEOUT && isUploading(socket)) return;
    // After a chunk that cannot be parsed, each further one is an error too.
    if (refused.has(socket)) return;
    refused.add(socket);
    const response = responses.get(socket);
    const refuse = () => endWith(socket, refusalOf(error.code), deps);
    if (!response || response.writableFinished) refuse();
    // The request that cannot be parsed follows one that is still being answered.
    else if (response.req.complete) response.once('close', refuse);
    else if (response.headersSent) socket.destroy();
    else refuse();
  });
};

/**
 * Refuses an `Expect` other than `100-continue`, which Node answers without a body, before hapi.
 */
const refuseExpectations = (listener: http.Server, deps: ListenerDeps): void => {
  listener.on('checkExpectation', ({ headers, url = '' }, response) => {
    const requestId = requestIdOf(headers['x-request-id'], deps.mintRequestId);
    const boom = Boom.expectationFailed(
      'Unsupported Expect header. Only 100-continue is supported',
    );
    const { output } = problemOf(boom, { requestId, path: url }, deps);
    response.writeHead(output.statusCode, problemHeaders(requestId));
    response.end(JSON.stringify(output.payload));
  });
};

/** Maps the codes of Node's errors to replies. */
const refusalOf = (code: string | undefined): Boom.Boom => {
  switch (code) {
    case REQUEST_TIMEOUT:
      return Boom.clientTimeout('The request did not arrive in time');
    case 'HPE_HEADER_OVERFLOW':
      return new Boom.Boom(`The request headers exceed ${HEADER_BYTES} bytes`, {
        statusCode: 431,
      });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return Boom.entityTooLarge('The chunk extensions are too long');
    default:
      return Boom.badRequest('The request is not valid HTTP');
  }
};

/**
 * Writes a reply to the socket, since there is no response object for a request that could not be
 * parsed.
 */
const endWith = (socket: Duplex, boom: Boom.Boom, deps: ListenerDeps): void => {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = deps.mintRequestId();
  const { output } = problemOf(boom, { requestId, path: '' }, deps);
  const text = rawReply(output, { date: new Date(deps.clock.now()).toUTCString() });
  // A request that was too slow could otherwise still be read to its end, and take effect.
  if (output.statusCode === 408) socket.end(text, () => socket.destroy());
  else {
    socket.end(text);
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
};
