import type { AnonymousLimit } from '../../kernel/anonymouslimit.js';
import type { Clock } from '../../kernel/clock.js';
import type { SocketLimits } from './limits.js';

/** Whom a token speaks for. */
export interface SocketIdentity {
  userId: string;
  sessionId: string;
  /** The session of the admin who acts as the user: the socket ends with it too. */
  actorSessionId?: string;
  /** When the token ends, in milliseconds since 1970. */
  expiresAt: number;
  /** What a personal access token may do; null = all that its user may. */
  scopes: readonly string[] | null;
  /** What hapi's strategy is shown in nes's hello: the token itself, or what a ticket stood for. */
  token: string;
}

export interface ChatMessage {
  content: string;
  sessionId?: string;
}

/** Where a chat message went. */
export interface ChatReceipt {
  sessionId: string;
  agentId: string;
}

/** The token of the socket that a message came by, and the address of its peer. */
export interface MessageOrigin {
  token: string;
  address: string;
}

/** What the sockets need of the rest of the service. */
export interface SocketDoor {
  /** Looks at the session row; null is answered with 401, a rejection with 503. */
  identify(token: string): Promise<SocketIdentity | null>;
  /** The token that a ticket stands for, which is spent by that; null where it is no ticket. */
  redeem(ticket: string): string | null;
  /** Takes a chat message of that user's. The user's mistakes are thrown as Boom. */
  message(userId: string, message: ChatMessage, from: MessageOrigin): Promise<ChatReceipt>;
}

/** One line for the log: ids and figures, never a frame, a token or a query string. */
export type SocketLog = (event: string, detail: Record<string, unknown>) => void;

export interface SocketOptions {
  /** hapi's strategy that authenticates nes's hello; its `credentials.user` is the user's id. */
  strategy: string;
  /** Origins a browser may connect from. A client that sends none is not a browser. */
  origins: readonly string[];
  /** Every channel there is, with the scope that a personal access token needs for it. */
  channels: Readonly<Record<string, string>>;
  clock: Clock;
  /** Counts whom the gate refuses for want of a token, as every door does. */
  anonymousLimit: AnonymousLimit;
  log: SocketLog;
  /** Where the figures differ from the defaults in `limits.ts`. */
  limits?: Partial<SocketLimits>;
}

export interface Sockets {
  /** Sends to those sockets of the user's that subscribed. Never throws; order is kept per user. */
  publish(userId: string, channel: string, data: unknown): void;
  /** Closes the sockets of a session, or of a personal token, at once with 4401, as a logout does. */
  endSession(sessionId: string): void;
  /** Closes all sockets of a user at once with 4401, as disabling the account does. */
  endUser(userId: string): void;
  /** Admits nobody more and closes everybody with 1001; settled when all are gone. */
  close(): Promise<void>;
  /** `slow` counts the sockets cut off since the start because they did not keep up. */
  stats(): { open: number; users: number; slow: number };
}
