import { type Clock, iso } from '../kernel/clock.js';
import { type Statement, UniqueViolation } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ChannelKind } from '../store/tables/channels.js';

/** Platforms repeat an event for hours at most. */
const REMEMBERED_MS = 7 * 24 * 3600_000;

interface ReceivedEvent {
  kind: ChannelKind;
  eventId: string;
}

/**
 * Part of the transaction with the effect of the event. Throws Taken for a repeat. Old events are
 * deleted, except Meta's: its signature covers no time, so a recorded request could be replayed.
 */
export const claimEvent = (
  { store: { db }, clock }: { store: Store; clock: Clock },
  { kind, eventId: event_id }: ReceivedEvent,
): Statement[] => {
  const now = clock.now();
  const row = { kind, event_id, received_at: iso(now) };
  const claim = statement(db.insertInto('inbound_events').values(row), 1);
  if (kind === 'whatsapp') return [claim];
  const old = db
    .deleteFrom('inbound_events')
    .where('kind', '=', kind)
    .where('received_at', '<', iso(now - REMEMBERED_MS));
  return [claim, statement(old)];
};

/** Resolves to null if the event was already handled. */
export const handleEventOnce = async <T>(
  deps: { store: Store; clock: Clock },
  event: ReceivedEvent,
  work: () => Promise<T>,
): Promise<T | null> => {
  try {
    await deps.store.transact(claimEvent(deps, event));
  } catch (error) {
    if (error instanceof UniqueViolation) return null;
    throw error;
  }
  return work();
};
