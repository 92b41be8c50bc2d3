import { type Clock, iso } from '../kernel/clock.js';
import { outboundPlatforms } from '../providers/chat/platforms.js';
import type { Store } from '../store/store.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { visibleTo } from '../store/visible.js';

interface FreeTextDeps {
  store: Store;
  clock: Clock;
}

interface OwnedChannel {
  id: string;
  userId: string;
}

/** End of the free-text window if the user writes now; null if there is no limit. */
export const freeTextUntil = (kind: ChannelKind, now: number): string | null => {
  const ms = outboundPlatforms.find((one) => one.kind === kind)?.freeTextMs;
  return ms === undefined ? null : iso(now + ms);
};

export const recordUserMessage = async (
  { store, clock }: FreeTextDeps,
  { id, userId, kind }: OwnedChannel & { kind: ChannelKind },
): Promise<void> => {
  const open_until = freeTextUntil(kind, clock.now());
  if (open_until === null) return;
  await ownChannel(store, { id, userId }).set({ open_until }).execute();
};

/** Returns since when it is known that the platform accepts no free text. */
export const recordWindowClosed = async (
  { store, clock }: FreeTextDeps,
  channel: OwnedChannel,
): Promise<string> => {
  const now = iso(clock.now());
  await ownChannel(store, channel)
    .set({ open_until: now })
    .where((of) => of.or([of('open_until', 'is', null), of('open_until', '>', now)]))
    .execute();
  const row = await store.db
    .selectFrom('channels')
    .select('open_until')
    .where(visibleTo(channel.userId))
    .where('id', '=', channel.id)
    .executeTakeFirst();
  return row?.open_until ?? now;
};

const ownChannel = ({ db }: Store, { id, userId }: OwnedChannel) =>
  db.updateTable('channels').where(visibleTo(userId)).where('id', '=', id);
