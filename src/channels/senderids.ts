import type { Outbox } from '../outbound/module.js';
import { UniqueViolation } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import { ACTS_AS_USER, type ChannelSender } from './sender.js';

export type SenderIds = Pick<ChannelSender, 'kind' | 'id' | 'otherId'>;

/**
 * Looks up the second id first. A different second id belongs to another person, who had the number
 * before.
 */
export const findBoundChannel = async ({ db }: Store, { kind, id, otherId }: SenderIds) => {
  const ids = [id, ...(otherId === undefined ? [] : [otherId])];
  const found = await db
    .selectFrom('channels as c')
    .innerJoin('users as u', 'u.id', 'c.user_id')
    .select(['c.id', 'c.user_id', 'c.session_id', 'c.verified_at', 'u.disabled_at'])
    .select(['c.sender_id', 'c.other_id'])
    .where('c.kind', '=', kind)
    .where((of) => of.or([of('c.sender_id', 'in', ids), of('c.other_id', 'in', ids)]))
    .execute();
  const has = (row: (typeof found)[number], one: string | undefined): boolean =>
    one !== undefined && (row.sender_id === one || row.other_id === one);
  const byNumber = found.find((row) => has(row, id));
  return (
    found.find((row) => has(row, otherId)) ??
    (otherId !== undefined && byNumber?.other_id ? undefined : byNumber)
  );
};

type BoundChannel = NonNullable<Awaited<ReturnType<typeof findBoundChannel>>>;

/** Only if the channel was linked by one of them. */
export const storeSenderIds = async (
  { db }: Store,
  { id: channelId, user_id, sender_id, other_id }: BoundChannel,
  { id, otherId }: SenderIds,
): Promise<void> => {
  if (otherId === undefined || [sender_id, other_id].every((one) => one === id || one === otherId))
    return;
  const change = sender_id === otherId ? { other_id: id } : { sender_id: id, other_id: otherId };
  const own = db.updateTable('channels').where(visibleTo(user_id)).where('id', '=', channelId);
  try {
    await own.set(change).execute();
  } catch (error) {
    // The number belongs to another channel that was linked since.
    if (!(error instanceof UniqueViolation)) throw error;
  }
};

/** Notifies the owner. The channel is unlinked if the owner has already linked the new ids. */
export const moveChannel = async (
  { store, outbox }: { store: Store; outbox: Pick<Outbox, 'toOwner'> },
  from: SenderIds,
  { id, otherId }: Pick<ChannelSender, 'id' | 'otherId'>,
): Promise<void> => {
  const bound = await findBoundChannel(store, from);
  if (!bound) return;
  const { user_id: userId, id: channelId } = bound;
  const message = outbox.toOwner(userId, {
    kind: 'channel.linked',
    title: `The number of your ${from.kind} chat has changed`,
    body: `It changed from ${from.id} to ${id}. ${ACTS_AS_USER} If you did not change it, remove the channel: adjutant channels delete ${channelId.slice(-6)}`,
    link: '/api/channels',
  });
  const change = { sender_id: id, other_id: otherId ?? null };
  const own = store.db.updateTable('channels').where(visibleTo(userId)).where('id', '=', channelId);
  try {
    await store.transact([statement(own.set(change), 1), ...message.statements]);
    message.published();
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    await store.db
      .deleteFrom('channels')
      .where(visibleTo(userId))
      .where('id', '=', channelId)
      .execute();
  }
};
