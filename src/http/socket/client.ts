import type { Duplex } from 'node:stream';
import Boom from '@hapi/boom';
import type { WebSocket, WebSocketServer } from 'ws';
import { hasScope, missingScope } from '../../kernel/scope.js';
import { Bridge, type NesReply, type NesRequest, type Peer } from './bridge.js';
import { Close, SocketConnection } from './connection.js';
import type { Connections } from './connections.js';
import { type Frame, readFrame } from './frames.js';
import { nes } from './nes.js';
import { plainProtocol } from './plain.js';
import type {
  ChatMessage,
  ChatReceipt,
  SocketIdentity,
  SocketService,
  SocketSettings,
} from './socketserver.js';
import { nextSubscription, type PublicationText } from './subscriptions.js';

/** A protocol of clients. There are two: plain frames, and nes's. */
export interface Dialect {
  /** Runs before the reply to the first frame. */
  greet?(client: SocketClient): Promise<unknown>;
  /**
   * Returns the reply to one frame; undefined if there is none. Errors of the client are thrown as
   * Boom.
   */
  reply(frame: Frame, client: SocketClient): Promise<object | undefined>;
  /** Builds the frame for an error. `frame` is missing if it could not be parsed. */
  fault(error: Boom.Boom, frame?: Frame): object;
  /** Writes a publication. */
  publicationText: PublicationText;
  /** The text of a heartbeat, if it is not a WebSocket ping. */
  heartbeat?: string;
}

/** The parts of the server that all clients share. */
export interface SocketShared {
  service: SocketService;
  connections: Connections;
  settings: SocketSettings;
  /** nes's server, which treats a bridge as a new connection. */
  wss: WebSocketServer;
}

/** A client that was admitted, with its open WebSocket. */
interface AdmittedSocket {
  ws: WebSocket;
  socket: Duplex;
  identity: SocketIdentity;
  peer: Peer;
}

/**
 * One client: its frames and their replies, its requests to nes and the service, and the
 * publications of nes to it. The first frame decides the dialect, and only then is the client added
 * to nes: before that, nes could not send it anything.
 */
export class SocketClient {
  readonly connection: SocketConnection;
  private readonly bridge: Bridge;
  private readonly peer: Peer;
  private dialect: Dialect = plainProtocol;
  /** Resolves when nes knows the client. */
  private greeting: Promise<void> | undefined;
  private pending = 0;
  /** Resolves when nes has replied to the last request. */
  private asking: Promise<unknown> = Promise.resolve();
  /** True if nes, and with it hapi's strategy, accepted the hello. */
  private isKnown = false;
  /** True if the token is no longer valid: the client is closed after its reply. */
  private isSignedOut = false;

  constructor(
    { ws, socket, identity, peer }: AdmittedSocket,
    readonly shared: SocketShared,
  ) {
    const { connections, settings } = shared;
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
    this.bridge = new Bridge(() => connection.end(Close.internal, 'Closed by the server'));
    connections.add(connection);
    settings.log('ws.opened', { userId, sessionId });
  }

  /** Returns why the client may not use that channel; null if it may. */
  refusalOf(channel: string, unknown: string): Boom.Boom | null {
    const { channels } = this.shared.settings;
    if (!Object.hasOwn(channels, channel)) return Boom.notFound(unknown);
    return this.lacked(channels[channel] ?? '');
  }

  /**
   * Asks nes, which decides on every subscription, and keeps what it has allowed. Requests go one
   * after the other, because the last of a client's frames is to count.
   */
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
      for (const path of request.subs ?? []) channels.set(channelOf(path), nextSubscription());
    else if (request.type === 'sub') channels.set(channelOf(request.path), nextSubscription());
    else channels.delete(channelOf(request.path));
    return reply;
  }

  /** Sends nes's hello with the client's token, which nes verifies with hapi's strategy. */
  async hello(version: string, subs?: string[]): Promise<NesReply> {
    const headers = { authorization: `Bearer ${this.connection.identity.token}` };
    const reply = await this.ask({ type: 'hello', version, subs, auth: { headers } });
    this.isKnown ||= reply.statusCode === undefined;
    this.isSignedOut ||= reply.statusCode === 401;
    return reply;
  }

  /**
   * Accepts a new token. Throws 401 for one that is invalid or another user's, and 403 for one with
   * other scopes, since present subscriptions would continue. nes does not take part: it would keep
   * one more entry for each renewal until the socket closes.
   */
  async renew(token: string): Promise<void> {
    const { connection } = this;
    const { service } = this.shared;
    const next = await service.identify(token);
    if (next?.userId !== connection.identity.userId) throw Boom.unauthorized('Invalid token');
    if (next.scopes !== null && String(next.scopes) !== String(connection.identity.scopes)) {
      throw Boom.forbidden('The token has different scopes. Open another socket');
    }
    connection.identity = next;
    // A logout while the row was read still found the old session here; a second read detects it.
    this.isSignedOut ||= (await service.identify(next.token)) === null;
  }

  /**
   * Handles a chat message. Throws 401 if no hello was accepted, since the session may have ended
   * after the gate read it, and 403 if the client's token lacks the scope.
   */
  async message(message: ChatMessage): Promise<ChatReceipt> {
    if (!this.isKnown) throw Boom.unauthorized('Send a hello frame first');
    const refusal = this.lacked('chat:write');
    if (refusal) throw refusal;
    const { userId, token } = this.connection.identity;
    const address = this.peer.socket.remoteAddress ?? '';
    return this.shared.service.message(userId, message, { token, address });
  }

  /**
   * Handles a frame. The reply is sent when it is ready, whatever else is under way. Never rejects.
   */
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
        throw Boom.tooManyRequests('Too many frames are waiting for a reply');
      }
      this.greeting ??= this.begin(frame);
      await this.greeting;
      return await this.dialect.reply(frame, this);
    } catch (error) {
      return this.dialect.fault(this.mistake(error), frame);
    }
  }

  private async begin(frame: Frame): Promise<void> {
    if (frame.type === 'hello') this.dialect = nes;
    this.connection.heartbeat = this.dialect.heartbeat;
    this.connection.publicationText = this.dialect.publicationText;
    this.shared.wss.emit('connection', this.bridge, this.peer);
    await this.dialect.greet?.(this);
  }

  /** Converts an error. An internal one is logged, and the client gets no details of it. */
  private mistake(error: unknown): Boom.Boom {
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

/** Returns the channel of a path of nes: `agent.status` for `/agent.status`. */
const channelOf = (path: string): string => path.slice(1);
