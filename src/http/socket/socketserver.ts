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

/** The token of the socket that a message came through, and the address of its peer. */
export interface MessageOrigin {
  token: string;
  address: string;
}

/** The functions of the service that the sockets need. */
export interface SocketDoor {
  /** Reads the session row. null gives 401, a rejection 503. */
  identify(token: string): Promise<SocketIdentity | null>;
  /** Spends a ticket and returns its token; null if it is not a ticket. */
  redeem(ticket: string): string | null;
  /** Accepts a chat message of that user. Errors of the user are thrown as Boom. */
  message(userId: string, message: ChatMessage, from: MessageOrigin): Promise<ChatReceipt>;
}

/** Writes one line to the log: ids and figures, never a frame, a token or a query string. */
export type SocketLog = (event: string, detail: Record<string, unknown>) => void;

export interface SocketOptions {
  /**
   * Name of hapi's strategy that authenticates nes's hello; its `credentials.user` is the user's
   * id.
   */
  strategy: string;
  /** Origins a browser may connect from. A client that sends none is not a browser. */
  origins: readonly string[];
  /** All channels, each with the scope that a personal access token needs for it. */
  channels: Readonly<Record<string, string>>;
  clock: Clock;
  /**
   * Limit for requests without a valid token, which refusals of the gate count against as
   * everywhere.
   */
  anonymousLimit: AnonymousLimit;
  log: SocketLog;
  /** Limits that differ from the defaults in `limits.ts`. */
  limits?: Partial<SocketLimits>;
}

export interface Sockets {
  /** Sends to the user's sockets that subscribed. Never throws; the order is kept per user. */
  publish(userId: string, channel: string, data: unknown): void;
  /**
   * Closes the sockets of a session or a personal access token at once with 4401, as a logout does.
   */
  endSession(sessionId: string): void;
  /** Closes all sockets of a user at once with 4401, as disabling the account does. */
  endUser(userId: string): void;
  /** Admits no more clients and closes all with 1001; resolves when all are gone. */
  close(): Promise<void>;
  /** `slow` counts the sockets cut off since the start because they did not keep up. */
  stats(): { open: number; users: number; slow: number };
}
