import { EventEmitter, once } from 'node:events';
import * as Http from 'node:http';
import type { Socket } from 'node:net';
import * as Boom from '@hapi/boom';
import * as Hapi from '@hapi/hapi';
import { WebSocket } from 'ws';
import { createListener } from '../../../src/http/listener.js';
import type { Connections } from '../../../src/http/socket/connections.js';
import { openSockets } from '../../../src/http/socket/sockets.js';
import type {
  ChatMessage,
  SocketIdentity,
  SocketOptions,
  SocketService,
} from '../../../src/http/socket/socketserver.js';
import { type Clock, systemClock } from '../../../src/kernel/clock.js';
import { timersFired } from '../../harness/turns.js';

const channels = {
  'agent.status': 'agents:read',
  'agent.message': 'agents:read',
  'agent.tool_call': 'agents:read',
};
export const origin = 'http://desk.local';

/** A hapi server with sockets and, behind them, sessions and chat in memory. */
export interface House {
  server: Hapi.Server;
  sockets: Connections;
  url: `ws://${string}`;
  door: Door;
  /** Every line logged, as `[event, detail]`. */
  lines: [string, Record<string, unknown>][];
  clock: Clock & { ms: number };
  /** Breaks every connection, as a network does. */
  cut(): void;
}

/** The rest of the service: a session row per token, and a chat that records what it was given. */
class Door implements SocketService {
  readonly sessions = new Map<string, SocketIdentity>();
  readonly messages: [string, ChatMessage][] = [];
  /** What a look at a session takes. */
  look = async (): Promise<void> => {};

  constructor(private readonly clock: { now(): number }) {}

  /** A token of that user's, good for an hour unless said otherwise. */
  sign(userId: string, sessionId = `session_of_${userId}`, ttlMs = 3_600_000): string {
    const token = `token.${userId}.${sessionId}.${this.sessions.size}`;
    const expiresAt = this.clock.now() + ttlMs;
    this.sessions.set(token, { userId, sessionId, expiresAt, scopes: null, token });
    return token;
  }

  /** Makes it a personal access token with those scopes. */
  narrow(token: string, scopes: string[]): void {
    const row = this.sessions.get(token);
    if (row) this.sessions.set(token, { ...row, scopes });
  }

  revoke(sessionId: string): void {
    for (const [token, row] of this.sessions) {
      if (row.sessionId === sessionId) this.sessions.delete(token);
    }
  }

  /** Makes looks at a session wait until the release; `arrived` settles when so many do. */
  hold(count: number): { arrived: Promise<void>; release(): void } {
    const gate = new EventEmitter();
    let waiting = 0;
    const released = once(gate, 'release');
    this.look = async () => {
      waiting++;
      if (waiting === count) gate.emit('arrived');
      await released;
    };
    const release = () => {
      this.look = async () => {};
      gate.emit('release');
    };
    return { arrived: once(gate, 'arrived').then(() => {}), release };
  }

  async identify(token: string): Promise<SocketIdentity | null> {
    await this.look();
    return this.sessions.get(token) ?? null;
  }

  redeem = (): null => null;

  async message(userId: string, message: ChatMessage) {
    if (message.content === 'refuse') throw Boom.notFound('No session with that id');
    if (message.content === 'break') throw new TypeError('Broken inside');
    this.messages.push([userId, message]);
    return { sessionId: message.sessionId ?? 'session_new', agentId: 'agent_1' };
  }
}

export const build = async (options: Partial<SocketOptions> = {}): Promise<House> => {
  const clock = { ...systemClock, ms: 1_700_000_000_000, now: () => clock.ms };
  const door = new Door(clock);
  const listener = createListener();
  const server = Hapi.server({ port: 0, host: '127.0.0.1', debug: false, listener });
  server.auth.scheme('session', () => ({ authenticate: authenticate(door) }));
  server.auth.strategy('jwt', 'session');
  server.auth.default('jwt');
  server.route([
    { method: 'GET', path: '/health', options: { auth: false }, handler: () => ({ ok: true }) },
    { method: 'POST', path: '/echo', options: { auth: false }, handler: ({ payload }) => payload },
  ]);
  const connections = new Set<Socket>();
  server.listener.on('connection', (socket) => connections.add(socket));
  const cut = () => {
    for (const socket of connections) socket.destroy();
  };
  const lines: House['lines'] = [];
  const sockets = await openSockets(server, door, {
    strategy: 'jwt',
    isAllowedOrigin: (headers) => headers.origin === origin,
    channels,
    clock,
    anonymousLimit: { take: () => null },
    log: (event, detail) => lines.push([event, detail]),
    ...options,
  });
  await server.start();
  return { server, sockets, url: `ws://127.0.0.1:${server.info.port}/ws`, door, lines, clock, cut };
};

const authenticate = (door: Door): Hapi.ServerAuthSchemeObject['authenticate'] => {
  return async (request, h) => {
    const token = String(request.headers.authorization).replace('Bearer ', '');
    const session = await door.identify(token);
    if (!session) throw Boom.unauthorized('Invalid token');
    return h.authenticated({ credentials: { user: session.userId } });
  };
};

/** A plain client that keeps what it hears until it is asked for. */
export class Client {
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly heard: Record<string, unknown>[] = [];
  private readonly waiting: ((frame: Record<string, unknown>) => void)[] = [];

  private constructor(readonly ws: WebSocket) {
    this.closed = new Promise((resolve) => {
      ws.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    ws.on('message', (data) => {
      const frame = JSON.parse(data.toString());
      const next = this.waiting.shift();
      if (next) next(frame);
      else this.heard.push(frame);
    });
    ws.on('error', () => {});
  }

  static async connect(url: string, token: string, options: object = {}): Promise<Client> {
    const client = new Client(new WebSocket(`${url}?token=${token}`, options));
    await once(client.ws, 'open');
    return client;
  }

  /** A client that is subscribed already. */
  static async listening(url: string, token: string, ...names: string[]): Promise<Client> {
    const client = await Client.connect(url, token);
    await client.ask({ type: 'subscribe', channels: names });
    return client;
  }

  /** The next frame that was not asked for yet. */
  next(): Promise<Record<string, unknown>> {
    const frame = this.heard.shift();
    if (frame) return Promise.resolve(frame);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  send(frame: object | string): void {
    this.ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  ask(frame: object | string): Promise<Record<string, unknown>> {
    this.send(frame);
    return this.next();
  }
}

interface Refusal {
  status: number;
  headers: Http.IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** Asks for an upgrade; the answer where it is refused, null where it is granted. */
export const knock = (url: string, headers: Http.OutgoingHttpHeaders = {}) =>
  new Promise<Refusal | null>((resolve, reject) => {
    const request = Http.get(url.replace('ws:', 'http:'), {
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version': '13',
        ...headers,
      },
    });
    request.on('error', reject);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(null);
    });
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status, headers: response.headers, body: JSON.parse(text) }),
      );
    });
  });

/** Waits, a turn of the loop at a time, for something that has no event to wait for. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await timersFired(1);
};
