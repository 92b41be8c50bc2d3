import { createHash, randomBytes } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Signer } from '../../secrets/module.js';
import type { Ticket } from './contract.js';

/** Ours: long enough to open a socket, too short for somebody to find it in a log and use it. */
const LIFE_MS = 60_000;
/** Ours: limit for one user; a new ticket replaces the oldest. */
const MAX_PER_USER = 20;
/** Prefix that distinguishes a ticket from a token. */
const PREFIX = 'ticket_';

/** The user and session of a ticket, as in the token with which it was requested. */
type TicketSubject = Pick<Caller, 'userId' | 'sessionId' | 'expiresAt'>;
interface StoredTicket extends TicketSubject {
  usableUntil: number;
}

/**
 * Makes the tickets that replace a token in an address. They are kept in memory as digests, in the
 * order in which they expire. A ticket is worthless once it was used.
 */
export const createTickets = ({
  signer,
  clock,
}: {
  signer: Pick<Signer, 'sign'>;
  clock: Clock;
}) => {
  const kept = new Map<string, StoredTicket>();
  return {
    issue: ({ userId, sessionId, expiresAt }: TicketSubject): Ticket => {
      const now = clock.now();
      makeRoom(kept, userId, now);
      const ticket = PREFIX + randomBytes(32).toString('base64url');
      const usableUntil = Math.min(now + LIFE_MS, Date.parse(expiresAt));
      kept.set(digestOf(ticket), { userId, sessionId, expiresAt, usableUntil });
      return { ticket, expiresAt: iso(usableUntil) };
    },
    /**
     * Spends the ticket and returns a token for its session, with the expiry of the original token;
     * null if there is no such ticket, or it has expired. The caller checks with the token that the
     * session is still valid.
     */
    redeem: (ticket: string): string | null => {
      if (!ticket.startsWith(PREFIX)) return null;
      const digest = digestOf(ticket);
      const found = kept.get(digest);
      kept.delete(digest);
      const now = clock.now();
      if (!found || found.usableUntil <= now) return null;
      const { userId, sessionId, expiresAt } = found;
      return signer.sign({
        userId,
        sessionId,
        issuedAt: Math.floor(now / 1000),
        expiresAt: Math.floor(Date.parse(expiresAt) / 1000),
      });
    },
  };
};

export type Tickets = ReturnType<typeof createTickets>;

const makeRoom = (kept: Map<string, StoredTicket>, userId: string, now: number): void => {
  const own: string[] = [];
  for (const [digest, each] of kept) {
    if (each.usableUntil <= now) kept.delete(digest);
    else if (each.userId === userId) own.push(digest);
  }
  const surplus = Math.max(0, own.length + 1 - MAX_PER_USER);
  for (const digest of own.slice(0, surplus)) kept.delete(digest);
};

const digestOf = (ticket: string): string => createHash('sha256').update(ticket).digest('hex');
