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
  /** Open sockets of the same user. */
  audience: Audience;
  peer: Peer;
}

/** The state that all clients share. */
export interface ExchangeShared {
  door: SocketDoor;
  /** Channels, each with the scope that it needs. */
  channels: ReadonlyMap<string, string>;
  limits: SocketLimits;
  log: SocketLog;
  /** Passes a bridge to nes, which treats it as a new connection. */
  enter(bridge: Bridge, peer: Peer): void;
}

/** The requests of one client to nes and the service, and the publications of nes to the client. */
export class SocketExchange {
  /** Milliseconds between two heartbeats. */
  readonly heartbeatMs: number;
  /** True if the token is no longer valid: the client is closed after its reply. */
  isSignedOut = false;
  /** True if nes, and with it hapi's strategy, accepted the hello. */
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

  /** Returns the scope of that channel if the client's token lacks it. */
  lackedFor(channel: string): string | null {
    return this.lacked(this.around.channels.get(channel) ?? '');
  }

  ask(request: NesRequest): Promise<NesReply> {
    return this.bridge.ask(request);
  }

  /** Sends nes's hello with the client's token, which nes verifies with hapi's strategy. */
  async hello(version: string, subs?: string[]): Promise<NesReply> {
    const headers = { authorization: `Bearer ${this.client.wire.identity.token}` };
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
    const { wire } = this.client;
    const { door } = this.around;
    const next = await door.identify(token);
    if (next?.userId !== wire.identity.userId) throw Boom.unauthorized('Bad token');
    if (next.scopes !== null && String(next.scopes) !== String(wire.identity.scopes)) {
      throw Boom.forbidden('That token has other scopes: open another socket');
    }
    wire.identity = next;
    // A logout while the row was read still found the old session here; a second read detects it.
    this.isSignedOut ||= (await door.identify(next.token)) === null;
  }

  /**
   * Handles a chat message. Throws 401 if no hello was accepted, since the session may have ended
   * after the gate read it, and 403 if the client's token lacks the scope.
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

  /** Called when the client has answered the heartbeat. */
  answered(): void {
    this.client.wire.answered();
  }

  /** Called when the client is gone. */
  leave(): void {
    this.bridge.leave();
  }

  private lacked(scope: string): string | null {
    return hasScope(this.client.wire.identity.scopes, scope) ? null : scope;
  }
}
