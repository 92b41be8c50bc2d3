import type { IncomingHttpHeaders } from 'node:http';
import type { AnonymousLimit } from '../../kernel/anonymouslimit.js';
import type { Clock } from '../../kernel/clock.js';
import type { SocketLimits } from './limits.js';

export interface SocketIdentity {
  userId: string;
  sessionId: string;
  /** Session of the impersonating admin, with which the socket ends too. */
  actorSessionId?: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** Null means all rights of the user. */
  scopes: readonly string[] | null;
  /** Token for hapi's strategy: the given one, or that of the ticket. */
  token: string;
}

export interface ChatMessage {
  content: string;
  sessionId?: string;
}

export interface ChatReceipt {
  sessionId: string;
  agentId: string;
}

export interface SocketService {
  /** Null gives 401, a rejection 503. */
  identify(token: string): Promise<SocketIdentity | null>;
  /** Returns the token of a ticket. Null if it is not a ticket. */
  redeem(ticket: string): string | null;
  /** User errors are thrown as Boom. */
  message(
    userId: string,
    message: ChatMessage,
    from: { token: string; address: string },
  ): Promise<ChatReceipt>;
}

export interface SocketOptions {
  /** hapi's strategy for nes's hello. Its `credentials.user` is the user ID. */
  strategy: string;
  /** Clients without an origin are not browsers. */
  isAllowedOrigin(headers: IncomingHttpHeaders): boolean;
  /** With the scope that a personal access token needs. */
  channels: Readonly<Record<string, string>>;
  clock: Clock;
  /** Refused upgrades count as well. */
  anonymousLimit: AnonymousLimit;
  /** IDs and figures only, never a frame, token or query string. */
  log(event: string, detail: Record<string, unknown>): void;
  /** Overrides of `limits.ts`. */
  limits?: Partial<SocketLimits>;
}

export interface SocketSettings extends SocketOptions {
  limits: SocketLimits;
}
