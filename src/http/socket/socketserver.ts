import type { IncomingHttpHeaders } from 'node:http';
import type { AnonymousLimit } from '../../kernel/anonymouslimit.js';
import type { Clock } from '../../kernel/clock.js';
import type { SocketLimits } from './limits.js';

/** The identity of a token. */
export interface SocketIdentity {
  userId: string;
  sessionId: string;
  /** Session of the admin who acts as the user; the socket ends with it too. */
  actorSessionId?: string;
  /** Expiry of the token, in milliseconds since 1970. */
  expiresAt: number;
  /** Scopes of a personal access token; null for all rights of the user. */
  scopes: readonly string[] | null;
  /** Token in nes's hello for hapi's strategy: the given one, or the token of the ticket. */
  token: string;
}

export interface ChatMessage {
  content: string;
  sessionId?: string;
}

/** The conversation and the agent of a chat message. */
export interface ChatReceipt {
  sessionId: string;
  agentId: string;
}

/** The functions of the service that the sockets need. */
export interface SocketService {
  /** Reads the session row. null gives 401, a rejection 503. */
  identify(token: string): Promise<SocketIdentity | null>;
  /** Spends a ticket and returns its token; null if it is not a ticket. */
  redeem(ticket: string): string | null;
  /**
   * Accepts a chat message of that user, with the token of its socket and the address of the peer.
   * Errors of the user are thrown as Boom.
   */
  message(
    userId: string,
    message: ChatMessage,
    from: { token: string; address: string },
  ): Promise<ChatReceipt>;
}

export interface SocketOptions {
  /**
   * Name of hapi's strategy that authenticates nes's hello; its `credentials.user` is the user's
   * id.
   */
  strategy: string;
  /**
   * True if a browser may connect from the origin in these headers. A client that sends none is not
   * a browser.
   */
  isAllowedOrigin(headers: IncomingHttpHeaders): boolean;
  /** All channels, each with the scope that a personal access token needs for it. */
  channels: Readonly<Record<string, string>>;
  clock: Clock;
  /**
   * Limit for requests without a valid token, which refusals of the gate count against as
   * everywhere.
   */
  anonymousLimit: AnonymousLimit;
  /** Writes one line to the log: ids and figures, never a frame, a token or a query string. */
  log(event: string, detail: Record<string, unknown>): void;
  /** Limits that differ from the defaults in `limits.ts`. */
  limits?: Partial<SocketLimits>;
}

/** The options with all limits. */
export interface SocketSettings extends SocketOptions {
  limits: SocketLimits;
}
