import type { Statement } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

/** Builds the statement that marks the notifications of effects as read: their user has answered them. */
export const readAnswered = (
  { db }: Store,
  { userId, effectIds, at }: { userId: string; effectIds: string[]; at: string },
): Statement =>
  statement(
    db
      .updateTable('notifications')
      .set({ read_at: at })
      .where(visibleTo(userId))
      .where('effect_id', 'in', effectIds)
      .where('read_at', 'is', null),
  );
