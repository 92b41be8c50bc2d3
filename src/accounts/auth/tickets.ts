import { createHash, randomBytes } from 'node:crypto';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Signer } from '../../secrets/module.js';
import type { Ticket } from './contract.js';

/** Long enough to open a socket, too short for a ticket in a log to be useful. */
const LIFE_MS = 60_000;
/** A new ticket replaces the oldest. */
const MAX_PER_USER = 20;
const PREFIX = 'ticket_';

type TicketSubject = Pick<Caller, 'userId' | 'sessionId' | 'expiresAt'>;
interface StoredTicket extends TicketSubject {
  usableUntil: number;
}

/** Tickets replace a token in a URL. They are kept in memory as digests, in order of expiry. */
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
      kept.set(computeDigest(ticket), { userId, sessionId, expiresAt, usableUntil });
      return { ticket, expiresAt: iso(usableUntil) };
    },
    /**
     * Uses up the ticket and returns a token for its session, with the expiry of the original token;
     * null if the ticket is not valid. The caller must check that the session is still valid.
     */
    redeem: (ticket: string): string | null => {
      if (!ticket.startsWith(PREFIX)) return null;
      const digest = computeDigest(ticket);
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

const computeDigest = (ticket: string): string => createHash('sha256').update(ticket).digest('hex');
