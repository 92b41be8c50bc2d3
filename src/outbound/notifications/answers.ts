import type { Statement } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

/** The user has already answered them. */
export const markAnsweredAsRead = (
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
