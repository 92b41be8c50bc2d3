import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import { mint } from '../../kernel/ids.js';
import { type Allowance, spentMessage } from '../../kernel/rate.js';

/** Refuses a request before the 101, as plain HTTP with the standard error body. */
export const refuse = (socket: Duplex, error: Boom.Boom, requestId: string): void => {
  const { statusCode, headers, payload } = error.output;
  const body = JSON.stringify({
    statusCode,
    error: payload.error,
    message: payload.message,
    ...(error.data?.code && { code: error.data.code }),
    requestId,
  });
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-cache',
    'X-Request-Id': requestId,
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`, ...lines].join('\r\n');
  socket.once('finish', () => socket.destroy());
  socket.end(`${head}\r\n\r\n${body}`);
};

export const unauthorized = (): Boom.Boom =>
  withHeader(Boom.unauthorized('A valid token is needed'), 'WWW-Authenticate', 'Bearer');

export const upgradeRequired = (): Boom.Boom =>
  withHeader(
    new Boom.Boom('This address speaks WebSocket', { statusCode: 426 }),
    'Upgrade',
    'websocket',
  );

export const badHandshake = (message: string): Boom.Boom =>
  withHeader(Boom.badRequest(message), 'Sec-WebSocket-Version', '13');

export const tooManyForUser = (): Boom.Boom =>
  withHeader(Boom.tooManyRequests('This user has too many sockets open'), 'Retry-After', '5');

/** Builds the same refusal as for every other request without a valid token. */
export const rateLimited = (allowance: Allowance): Boom.Boom =>
  withHeader(
    Boom.tooManyRequests(spentMessage(allowance), { code: 'rate_limited' }),
    'Retry-After',
    String(allowance.resetSeconds),
  );

export const unavailable = (message: string): Boom.Boom =>
  withHeader(Boom.serverUnavailable(message), 'Retry-After', '5');

const withHeader = (error: Boom.Boom, name: string, value: string): Boom.Boom => {
  error.output.headers[name] = value;
  return error;
};

/** Returns the client's request id if it is valid, else a new one. */
export const upgradeRequestId = (request: IncomingMessage, now: number): string => {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : mint('request', now);
};
