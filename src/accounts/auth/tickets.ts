import { createHash, randomBytes } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Signer } from '../../secrets/tokensigner.js';
import type { Ticket } from './contract.js';

/** Ours: long enough to open a socket, too short to be found in a log and used. */
const LIFE_MS = 60_000;
/** Ours: at once, of one user; one more takes the place of the oldest. */
const MOST_PER_USER = 20;
/** Tells a ticket from a token at a glance. */
const PREFIX = 'ticket_';

/** Whom a ticket stands for, as the token did with which it was asked for. */
type TicketSubject = Pick<Caller, 'userId' | 'sessionId' | 'expiresAt'>;
interface StoredTicket extends TicketSubject {
  usableUntil: number;
}

/** Stands in for a token where an address must carry one: it is worth nothing once it was used. */
export interface Tickets {
  issue(to: TicketSubject): Ticket;
  /**
   * A token of the session that the ticket was asked for with, good for as long as that one's; the
   * ticket is spent. null: no such ticket, or over. Whether the session goes on, the token tells.
   */
  redeem(ticket: string): string | null;
}

/** Kept in memory as digests, in the order in which they end. */
export const createTickets = (deps: { signer: Pick<Signer, 'sign'>; clock: Clock }): Tickets => {
  const { signer, clock } = deps;
  const kept = new Map<string, StoredTicket>();
  return {
    issue: ({ userId, sessionId, expiresAt }) => {
      const now = clock.now();
      makeRoom(kept, userId, now);
      const ticket = PREFIX + randomBytes(32).toString('base64url');
      const usableUntil = Math.min(now + LIFE_MS, Date.parse(expiresAt));
      kept.set(digestOf(ticket), { userId, sessionId, expiresAt, usableUntil });
      return { ticket, expiresAt: iso(usableUntil) };
    },
    redeem: (ticket) => {
      if (!ticket.startsWith(PREFIX)) return null;
      const digest = digestOf(ticket);
      const found = kept.get(digest);
      kept.delete(digest);
      const now = clock.now();
      if (!found || found.usableUntil <= now) return null;
      const { userId, sessionId, expiresAt } = found;
      return signer.sign({
        ...{ userId, sessionId, issuedAt: Math.floor(now / 1000) },
        expiresAt: Math.floor(Date.parse(expiresAt) / 1000),
      });
    },
  };
};

const makeRoom = (kept: Map<string, StoredTicket>, userId: string, now: number): void => {
  const own: string[] = [];
  for (const [digest, each] of kept) {
    if (each.usableUntil <= now) kept.delete(digest);
    else if (each.userId === userId) own.push(digest);
  }
  const surplus = Math.max(0, own.length + 1 - MOST_PER_USER);
  for (const digest of own.slice(0, surplus)) kept.delete(digest);
};

const digestOf = (ticket: string): string => createHash('sha256').update(ticket).digest('hex');
