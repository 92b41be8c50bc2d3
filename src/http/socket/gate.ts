import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import type { Cancel, Clock } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { rateLimitMessage } from '../../kernel/rate.js';
import { asksForWebSocket, parseRequestPath, SOCKET_PATH } from '../listener.js';
import { addProblem, rawReply, resolveRequestId } from '../replies.js';
import type { Peer } from './bridge.js';
import { SocketClient, type SocketShared } from './client.js';
import type { SocketIdentity } from './socketserver.js';

export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** In characters. Own tokens are shorter. */
const MAX_TOKEN = 4096;

const COUNTED = [401, 403, 404, 426];

export class UpgradeGate {
  private asking = 0;

  constructor(private readonly shared: SocketShared) {
    shared.wss.on('wsClientError', ({ message }, socket, request) => {
      const refusal = Boom.badRequest(message);
      this.refuse(request, socket, withHeader(refusal, 'Sec-WebSocket-Version', '13'));
    });
  }

  /** The socket is paused until the decision, with an error listener. */
  async accept(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade;
    socket.on('error', () => socket.destroy());
    socket.pause();
    try {
      this.admit(await this.identify(request), upgrade);
    } catch (error) {
      this.refuse(request, socket, this.refusalOf(request, error));
    }
  }

  private async identify(request: IncomingMessage): Promise<SocketIdentity> {
    const { service, settings, connections } = this.shared;
    if (parseRequestPath(request) !== SOCKET_PATH)
      throw Boom.notFound('No WebSocket endpoint at this path');
    if (!asksForWebSocket(request)) throw upgradeRequired();
    const { origin } = request.headers;
    if (origin !== undefined && !settings.isAllowedOrigin(request.headers)) {
      throw Boom.forbidden(
        'This origin is not allowed to open a WebSocket. Add the origin to ADJUTANT_ORIGINS and restart the daemon',
      );
    }
    if (connections.size + this.asking >= settings.limits.maxConnections) {
      throw unavailable('Too many sockets are open');
    }
    const [token, ...others] = readBearerTokens(request);
    if (others.length > 0)
      throw Boom.badRequest(
        'Expected one credential, but the request carries several. Send only one credential',
      );
    if (!token || token.length > MAX_TOKEN) throw unauthorized();
    this.asking++;
    try {
      const read = service.identify(service.redeem(token) ?? token);
      const identity = await within(settings.clock, settings.limits.identifyMs, read);
      if (!identity || identity.expiresAt <= settings.clock.now()) throw unauthorized();
      return identity;
    } finally {
      this.asking--;
    }
  }

  /** Synchronous, so that the count stays right. */
  private admit(identity: SocketIdentity, { request, socket, head }: Upgrade): void {
    const { wss, connections, settings } = this.shared;
    if (connections.isClosed) throw unavailable('The server is stopping');
    if (connections.countOf(identity.userId) >= settings.limits.maxPerUser) {
      throw Boom.tooManyRequests(
        `You have the maximum of ${settings.limits.maxPerUser} WebSocket connections. Close one first`,
        { retryAfter: 5 },
      );
    }
    wss.handleUpgrade(request, socket, head, (ws) => {
      new SocketClient({ ws, socket, identity, peer: toPeer(request) }, this.shared);
      socket.resume();
    });
  }

  private refusalOf({ headers, socket }: IncomingMessage, error: unknown): Boom.Boom {
    const { anonymousLimit, log } = this.shared.settings;
    if (!Boom.isBoom(error)) {
      log('ws.unidentified', { err: error });
      return unavailable('The session could not be verified. Try again later');
    }
    if (!COUNTED.includes(error.output.statusCode)) return error;
    const allowance = anonymousLimit.take(socket.remoteAddress ?? '', headers);
    if (!allowance?.isSpent) return error;
    const { resetSeconds: retryAfter } = allowance;
    return Boom.tooManyRequests(rateLimitMessage(allowance), { code: 'rate_limited', retryAfter });
  }

  /** Plain HTTP with the standard error body. */
  private refuse({ headers }: IncomingMessage, socket: Duplex, error: Boom.Boom): void {
    const { clock, log } = this.shared.settings;
    const requestId = resolveRequestId(headers['x-request-id'], () => mint('request', clock.now()));
    log('ws.refused', { requestId, status: error.output.statusCode, reason: error.message });
    addProblem(error, requestId);
    const { output } = error;
    const reply = rawReply(output, { ...output.headers, 'cache-control': 'no-cache' });
    socket.end(reply, () => socket.destroy());
  }
}

const withHeader = (error: Boom.Boom, name: string, value: string): Boom.Boom => {
  error.output.headers[name] = value;
  return error;
};

const unauthorized = (): Boom.Boom =>
  withHeader(Boom.unauthorized('A valid token is required'), 'WWW-Authenticate', 'Bearer');

export const upgradeRequired = (): Boom.Boom => {
  const refusal = new Boom.Boom('This endpoint requires a WebSocket upgrade', { statusCode: 426 });
  return withHeader(refusal, 'Upgrade', 'websocket');
};

const unavailable = (message: string): Boom.Boom =>
  Boom.serverUnavailable(message, { retryAfter: 5 });

/** Several tokens are refused, because a proxy may have checked another one. */
const readBearerTokens = (request: IncomingMessage): string[] => {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]).getAll('token');
  const header = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  // In the query, an empty token beside another counts as a second; on its own it counts as none.
  return query.length > 1 ? query : [...new Set([...query, header])].filter((one) => one !== '');
};

const toPeer = ({ headers, socket: { remoteAddress, remotePort } }: IncomingMessage): Peer => ({
  headers: { 'x-forwarded-for': headers['x-forwarded-for'] },
  socket: { remoteAddress, remotePort },
});

const within = async <T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> => {
  let cancel: Cancel = () => undefined;
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => reject(new Error(`Not finished within ${ms} ms`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
};
