import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import type { WebSocket, WebSocketServer } from 'ws';
import type { Peer } from './bridge.js';
import type { Connections } from './connections.js';
import type { SocketLimits } from './limits.js';
import {
  badHandshake,
  rateLimited,
  refuse,
  tooManyForUser,
  unauthorized,
  unavailable,
  upgradeRequestId,
  upgradeRequired,
} from './refusals.js';
import type { Upgrade } from './rejection.js';
import type { SocketDoor, SocketIdentity, SocketOptions } from './socketserver.js';

const PATH = '/ws';
/** Longest token, in characters; the daemon makes none that is longer. */
const MAX_TOKEN = 4096;

/**
 * Status codes of refusals that count against the anonymous limit. Others are the daemon's own
 * failures, or a user's.
 */
const OF_STRANGERS = [401, 403, 404, 426];

/** A client that was admitted, with its open WebSocket. */
export interface Guest {
  ws: WebSocket;
  identity: SocketIdentity;
  peer: Peer;
}

interface GateSettings {
  wss: WebSocketServer;
  door: SocketDoor;
  connections: Connections;
  limits: SocketLimits;
  options: SocketOptions;
  admitted(guest: Guest): void;
}

/**
 * Returns true if the gate must answer an upgrade: a WebSocket anywhere, or anything on its path.
 */
export const concerns = (request: IncomingMessage): boolean =>
  asksForWebSocket(request) || pathOf(request) === PATH;

/** Decides before the 101 which clients get a WebSocket. */
export class UpgradeGate {
  private asking = 0;
  private isClosed = false;

  constructor(private readonly settings: GateSettings) {
    settings.wss.on('wsClientError', (error, socket, request) => {
      this.refuse(request, socket, badHandshake(error.message));
    });
  }

  /**
   * Handles an `upgrade` event. Until the decision the socket is paused, with a listener for its
   * errors.
   */
  async knock(upgrade: Upgrade): Promise<void> {
    const { request, socket } = upgrade;
    socket.on('error', () => socket.destroy());
    socket.pause();
    try {
      this.admit(await this.identify(request), upgrade);
    } catch (error) {
      this.refuse(
        request,
        socket,
        Boom.isBoom(error) ? this.counted(request, error) : this.failed(error),
      );
    }
  }

  close(): void {
    this.isClosed = true;
  }

  private async identify(request: IncomingMessage): Promise<SocketIdentity> {
    const { options, connections, limits } = this.settings;
    if (pathOf(request) !== PATH) throw Boom.notFound('There is no WebSocket here');
    if (!asksForWebSocket(request)) throw upgradeRequired();
    const { origin } = request.headers;
    if (origin !== undefined && !options.origins.includes(origin)) {
      throw Boom.forbidden('This origin may not open a WebSocket');
    }
    if (connections.size + this.asking >= limits.maxConnections) {
      throw unavailable('Too many sockets are open');
    }
    const [token, ...others] = tokensOf(request);
    if (others.length > 0) throw Boom.badRequest('Give one token: here are several');
    if (!token || token.length > MAX_TOKEN) throw unauthorized();
    return this.look(this.settings.door.redeem(token) ?? token);
  }

  private async look(token: string): Promise<SocketIdentity> {
    const { door, limits, options } = this.settings;
    this.asking++;
    try {
      const identity = await within(limits.identifyMs, door.identify(token));
      if (!identity || identity.expiresAt <= options.clock.now()) throw unauthorized();
      return identity;
    } finally {
      this.asking--;
    }
  }

  /**
   * Admits a client. Nothing is awaited between the count and the entry, so that the count stays
   * right.
   */
  private admit(identity: SocketIdentity, { request, socket, head }: Upgrade): void {
    const { wss, connections, limits, admitted } = this.settings;
    if (this.isClosed) throw unavailable('The server is stopping');
    if (connections.countOf(identity.userId) >= limits.maxPerUser) throw tooManyForUser();
    wss.handleUpgrade(request, socket, head, (ws) => {
      admitted({ ws, identity, peer: peerOf(request) });
      socket.resume();
    });
  }

  private counted(request: IncomingMessage, refusal: Boom.Boom): Boom.Boom {
    if (!OF_STRANGERS.includes(refusal.output.statusCode)) return refusal;
    const { headers, socket } = request;
    const allowance = this.settings.options.anonymousLimit.take(
      socket.remoteAddress ?? '',
      headers,
    );
    return allowance?.isSpent ? rateLimited(allowance) : refusal;
  }

  private failed(error: unknown): Boom.Boom {
    this.settings.options.log('ws.unidentified', { err: error });
    return unavailable('The session could not be looked up');
  }

  private refuse(request: IncomingMessage, socket: Duplex, error: Boom.Boom): void {
    const { clock, log } = this.settings.options;
    const requestId = upgradeRequestId(request, clock.now());
    log('ws.refused', { requestId, status: error.output.statusCode, reason: error.message });
    refuse(socket, error, requestId);
  }
}

const asksForWebSocket = (request: IncomingMessage): boolean =>
  request.headers.upgrade?.toLowerCase() === 'websocket';

const pathOf = (request: IncomingMessage): string | undefined =>
  request.url?.split('?', 1)[0]?.replace(/(.)\/$/, '$1');

/**
 * Returns all tokens of a request. If there are several, the gate refuses: a proxy may have checked
 * another one than the daemon does.
 */
const tokensOf = (request: IncomingMessage): string[] => {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]).getAll('token');
  const header = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  // In the query, an empty token beside another counts as a second; on its own it counts as none.
  return query.length > 1 ? query : [...new Set([...query, header])].filter((one) => one !== '');
};

const peerOf = ({ headers, socket: { remoteAddress, remotePort } }: IncomingMessage): Peer => ({
  headers: { 'x-forwarded-for': headers['x-forwarded-for'] },
  socket: { remoteAddress, remotePort },
});

const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not done within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
