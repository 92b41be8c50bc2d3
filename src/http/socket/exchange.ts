import Boom from '@hapi/boom';
import { hasScope, missing } from '../../kernel/scope.js';
import { Bridge, type NesReply, type NesRequest, type Peer } from './bridge.js';
import { Close, type Wire } from './connection.js';
import type { SocketLimits } from './limits.js';
import type { Dialect } from './protocol.js';
import type { ChatMessage, ChatReceipt, SocketDoor, SocketLog } from './socketserver.js';
import type { Audience } from './subscriptions.js';

/** One connected client. */
export interface SocketClient {
  wire: Wire;
  /** The open sockets of the same user. */
  audience: Audience;
  peer: Peer;
}

/** What all clients share. */
export interface ExchangeShared {
  door: SocketDoor;
  /** Each with the scope that it takes. */
  channels: ReadonlyMap<string, string>;
  limits: SocketLimits;
  log: SocketLog;
  /** Hands a bridge to nes, which takes it for a new connection. */
  enter(bridge: Bridge, peer: Peer): void;
}

/** What one client wants of nes and of the service, and what nes publishes to it. */
export class SocketExchange {
  /** How often a sign of life is asked for. */
  readonly heartbeatMs: number;
  /** The token stopped being good: the client is to be closed once it has its answer. */
  isSignedOut = false;
  /** nes, and with it hapi's strategy, accepted the hello. */
  private isKnown = false;
  private readonly bridge: Bridge;

  constructor(
    private readonly client: SocketClient,
    private readonly around: ExchangeShared,
    dialect: Dialect,
  ) {
    const { wire, audience, peer } = client;
    const { publication } = dialect;
    this.heartbeatMs = around.limits.heartbeatMs;
    this.bridge = new Bridge({
      published: (text) => wire.write(publication ? audience.translate(text, publication) : text),
      closing: () => wire.end(Close.internal, 'Closed by the server'),
    });
    wire.heartbeat = dialect.heartbeat;
    around.enter(this.bridge, peer);
  }

  hasChannel(name: string): boolean {
    return this.around.channels.has(name);
  }

  /** The scope of that channel, where the client's token lacks it. */
  lackedFor(channel: string): string | null {
    return this.lacked(this.around.channels.get(channel) ?? '');
  }

  ask(request: NesRequest): Promise<NesReply> {
    return this.bridge.ask(request);
  }

  /** nes's hello with the client's token in it; nes has hapi's strategy look at that. */
  async hello(version: string, subs?: string[]): Promise<NesReply> {
    const headers = { authorization: `Bearer ${this.client.wire.identity.token}` };
    const reply = await this.ask({ type: 'hello', version, subs, auth: { headers } });
    this.isKnown ||= reply.statusCode === undefined;
    this.isSignedOut ||= reply.statusCode === 401;
    return reply;
  }

  /**
   * Takes a new token. 401: a bad one, or another user's. 403: one that may do other things, since
   * what is subscribed already would go on.
   * Not nes's affair: for each renewal it would keep one more entry until the socket closes.
   */
  async renew(token: string): Promise<void> {
    const { wire } = this.client;
    const { door } = this.around;
    const next = await door.identify(token);
    if (next?.userId !== wire.identity.userId) throw Boom.unauthorized('Bad token');
    if (next.scopes !== null && String(next.scopes) !== String(wire.identity.scopes)) {
      throw Boom.forbidden('That token has other scopes: open another socket');
    }
    wire.identity = next;
    // A logout while the row was looked at found the old session here; a second look sees it.
    this.isSignedOut ||= (await door.identify(next.token)) === null;
  }

  /**
   * 401 before a hello was accepted: the session may have ended since the gate looked at it. 403: the
   * client's token lacks the scope.
   */
  async message(message: ChatMessage): Promise<ChatReceipt> {
    if (!this.isKnown) throw Boom.unauthorized('No hello was accepted');
    const lacked = this.lacked('chat:write');
    if (lacked !== null) throw Boom.forbidden(missing(lacked));
    const { wire, peer } = this.client;
    const { userId, token } = wire.identity;
    return this.around.door.message(userId, message, {
      token,
      address: peer.socket.remoteAddress ?? '',
    });
  }

  /** The client answered the heartbeat. */
  answered(): void {
    this.client.wire.answered();
  }

  /** The client is gone. */
  leave(): void {
    this.bridge.leave();
  }

  private lacked(scope: string): string | null {
    return hasScope(this.client.wire.identity.scopes, scope) ? null : scope;
  }
}
