import type { IncomingHttpHeaders } from 'node:http';
import type { AnonymousLimit } from '../../kernel/anonymouslimit.js';
import type { Clock } from '../../kernel/clock.js';
import type { SocketLimits } from './limits.js';

export interface SocketIdentity {
  userId: string;
  sessionId: string;
  /** Session of the impersonating admin, with which the socket ends too. */
  actorSessionId?: string;
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
  channels: Readonly<Record<string, string>>;
  clock: Clock;
  anonymousLimit: AnonymousLimit;
  /** IDs and figures only, never a frame, token or query string. */
  log(event: string, detail: Record<string, unknown>): void;
  limits?: Partial<SocketLimits>;
}

export interface SocketSettings extends SocketOptions {
  limits: SocketLimits;
}
