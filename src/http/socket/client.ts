import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import type { WebSocket, WebSocketServer } from 'ws';
import { hasScope, missingScope } from '../../kernel/scope.js';
import { Bridge, type NesReply, type NesRequest, type Peer } from './bridge.js';
import { Close, type PublicationText, SocketConnection } from './connection.js';
import type { Connections } from './connections.js';
import { type Frame, readFrame } from './frames.js';
import type {
  ChatMessage,
  ChatReceipt,
  SocketIdentity,
  SocketService,
  SocketSettings,
} from './socketserver.js';
import { nextSubscription } from './subscriptions.js';

export interface Dialect {
  greet?(client: SocketClient): Promise<unknown>;
  /** Undefined without a reply. Throws client errors as Boom. */
  reply(frame: Frame, client: SocketClient): Promise<object | undefined>;
  fault(error: Boom.Boom, frame?: Frame): object;
  publicationText: PublicationText;
  heartbeat?: string;
}

export interface SocketShared {
  service: SocketService;
  connections: Connections;
  settings: SocketSettings;
  dialects: { plain: Dialect; nes: Dialect };
  /** Treats a bridge as a new connection. */
  wss: WebSocketServer;
}

interface AdmittedSocket {
  ws: WebSocket;
  socket: Duplex;
  identity: SocketIdentity;
  peer: Peer;
}

/** The first frame decides the dialect. Only then nes knows the client and can send to it. */
export class SocketClient {
  readonly connection: SocketConnection;
  private readonly bridge: Bridge;
  private readonly peer: Peer;
  private dialect: Dialect;
  private greeting: Promise<void> | undefined;
  private pending = 0;
  private asking: Promise<unknown> = Promise.resolve();
  /** nes, and thereby hapi's strategy, accepted the hello. */
  private isKnown = false;
  /** The token is no longer valid. The client is closed after its reply. */
  private isSignedOut = false;

  constructor(
    { ws, socket, identity, peer }: AdmittedSocket,
    readonly shared: SocketShared,
  ) {
    const { connections, settings, dialects } = shared;
    this.dialect = dialects.plain;
    const { userId, sessionId } = identity;
    const connection = new SocketConnection(
      ws,
      socket,
      identity,
      {
        limits: settings.limits,
        received: (text) => void this.handle(text),
        slow: (backlogBytes) => {
          connections.countSlow();
          settings.log('ws.slow', { userId, backlogBytes });
        },
        closed: (code) => {
          connections.remove(connection);
          this.bridge.leave();
          settings.log('ws.closed', { userId, code });
        },
      },
      this.dialect.publicationText,
    );
    this.peer = peer;
    this.connection = connection;
    this.bridge = new Bridge(settings.clock, () =>
      connection.end(Close.internal, 'Closed by the server'),
    );
    connections.add(connection);
    settings.log('ws.opened', { userId, sessionId });
  }

  refusalOf(channel: string, unknown: string): Boom.Boom | null {
    const { channels } = this.shared.settings;
    if (!Object.hasOwn(channels, channel)) return Boom.notFound(unknown);
    return this.lacked(channels[channel] ?? '');
  }

  /** nes decides on every subscription. Sequential, because the last frame must count. */
  ask(request: NesRequest): Promise<NesReply> {
    const reply = this.asking.then(() => this.askNow(request));
    this.asking = reply.catch(() => undefined);
    return reply;
  }

  private async askNow(request: NesRequest): Promise<NesReply> {
    const reply = await this.bridge.ask(request);
    if (reply.statusCode !== undefined) return reply;
    const { channels } = this.connection;
    if (request.type === 'hello')
      for (const path of request.subs ?? []) channels.set(toChannelName(path), nextSubscription());
    else if (request.type === 'sub') channels.set(toChannelName(request.path), nextSubscription());
    else channels.delete(toChannelName(request.path));
    return reply;
  }

  /** nes verifies the token with hapi's strategy. */
  async hello(version: string, subs?: string[]): Promise<NesReply> {
    const headers = { authorization: `Bearer ${this.connection.identity.token}` };
    const reply = await this.ask({ type: 'hello', version, subs, auth: { headers } });
    this.isKnown ||= reply.statusCode === undefined;
    this.isSignedOut ||= reply.statusCode === 401;
    return reply;
  }

  /**
   * Throws 401 for an invalid or another user's token, and 403 for other scopes, because
   * subscriptions continue. Bypasses nes, which would keep an entry per renewal.
   */
  async renew(token: string): Promise<void> {
    const { connection } = this;
    const { service } = this.shared;
    const next = await service.identify(token);
    if (next?.userId !== connection.identity.userId)
      throw Boom.unauthorized('The token is invalid or belongs to another user');
    if (next.scopes !== null && String(next.scopes) !== String(connection.identity.scopes)) {
      throw Boom.forbidden(
        'The scopes of the token differ from the scopes of this socket. Open a new socket with the token',
      );
    }
    connection.identity = next;
    // A logout during the read still found the old session. A second read detects it.
    this.isSignedOut ||= (await service.identify(next.token)) === null;
  }

  /** Throws 401 without a hello, because the session may have ended, and 403 without the scope. */
  async message(message: ChatMessage): Promise<ChatReceipt> {
    if (!this.isKnown) throw Boom.unauthorized('Send a hello frame first');
    const refusal = this.lacked('chat:write');
    if (refusal) throw refusal;
    const { userId, token } = this.connection.identity;
    const address = this.peer.socket.remoteAddress ?? '';
    return this.shared.service.message(userId, message, { token, address });
  }

  /** Replies as soon as ready. Never rejects. */
  private async handle(text: string): Promise<void> {
    this.pending++;
    const reply = await this.reply(text);
    this.pending--;
    if (reply) this.connection.write(JSON.stringify(reply));
    if (this.isSignedOut) this.connection.end(Close.signedOut, 'The session has ended');
  }

  private async reply(text: string): Promise<object | undefined> {
    let frame: Frame | undefined;
    try {
      frame = readFrame(text);
      if (this.pending > this.shared.settings.limits.maxPending) {
        throw Boom.tooManyRequests(
          'Too many frames are waiting for a reply. Wait for replies before you send more frames',
        );
      }
      this.greeting ??= this.begin(frame);
      await this.greeting;
      return await this.dialect.reply(frame, this);
    } catch (error) {
      return this.dialect.fault(this.toBoom(error), frame);
    }
  }

  private async begin(frame: Frame): Promise<void> {
    if (frame.type === 'hello') this.dialect = this.shared.dialects.nes;
    this.connection.heartbeat = this.dialect.heartbeat;
    this.connection.publicationText = this.dialect.publicationText;
    this.shared.wss.emit('connection', this.bridge, this.peer);
    await this.dialect.greet?.(this);
  }

  private toBoom(error: unknown): Boom.Boom {
    if (Boom.isBoom(error)) return error;
    const { userId } = this.connection.identity;
    this.shared.settings.log('ws.failed', { userId, err: error });
    return Boom.internal();
  }

  private lacked(scope: string): Boom.Boom | null {
    const { scopes } = this.connection.identity;
    return hasScope(scopes, scope) ? null : Boom.forbidden(missingScope(scope));
  }
}

const toChannelName = (path: string): string => path.slice(1);
