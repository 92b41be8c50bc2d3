import { sql } from 'kysely';
import { orgOf } from '../../kernel/ids.js';
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
      .where(
        orgOf(userId) === null
          ? sql<boolean>`${visibleTo(userId)} AND effect_id IN (${sql.join(effectIds)})`
          : // As in `postNotice`.
            sql<boolean>`effect_id IN (SELECT e.value || ' ' || m.user_id
                FROM org_members AS m, json_each(${JSON.stringify(effectIds)}) AS e
                WHERE m.org_id = ${userId})`,
      )
      .where('read_at', 'is', null),
  );
