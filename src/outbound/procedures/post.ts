import type Database from 'better-sqlite3';
import type { NotificationRow } from '../../store/tables/notifications.js';
import type { NewOutgoingEvent } from '../../store/tables/outbox.js';

/** A notification to store, and whether it also goes to the owner's channels. */
export interface NoticePosting {
  notice: Omit<NotificationRow, 'read_at'>;
  /** False if it stays in the app. */
  isSent: boolean;
}

/** Returns the owner's lane, in which notifications and events wait until their targets are known. */
const ownerLane = (userId: string): string => `owner_${userId}`;

/** The lanes in which the procedures of one transaction added jobs. */
export interface QueuedLanes {
  queued: string[];
}

/**
 * Stores a notification and, if its owner has a verified channel, the job that fans it out. Returns
 * false if a notification of the same effect is stored already.
 */
export const postNotice = (db: Database.Database, { queued }: QueuedLanes) => {
  const insert = db.prepare(
    `INSERT INTO notifications
       (id, user_id, kind, title, body, markdown, link, effect_id, direct, about, hops, created_at)
     VALUES (@id, @user_id, @kind, @title, @body, @markdown, @link, @effect_id, @direct, @about, @hops,
       @created_at)
     ON CONFLICT (effect_id) DO NOTHING`,
  );
  const queue = db.prepare(
    `INSERT INTO jobs (kind, ref, lane, run_at) SELECT 'notice', ?, ?, ?
     WHERE EXISTS (SELECT 1 FROM channels WHERE user_id = ? AND verified_at IS NOT NULL)`,
  );
  return ({ notice, isSent }: NoticePosting): boolean => {
    if (insert.run(notice).changes === 0) return false;
    const { id, user_id: userId, created_at: at } = notice;
    const lane = ownerLane(userId);
    if (isSent && queue.run(id, lane, at, userId).changes === 1) queued.push(lane);
    return true;
  };
};

/**
 * Stores an event with the owner's outgoing webhooks that are enabled and want its type, and the job
 * that fans it out, if there are any and no event of the same effect is stored. The types that a
 * webhook wants are a JSON list of words that contain no wildcard of LIKE.
 */
export const postEvent = (db: Database.Database, { queued }: QueuedLanes) => {
  const insert = db.prepare(
    `INSERT INTO outgoing_events
       (id, user_id, type, data, effect_id, hops, created_at, webhooks)
     SELECT @id, @user_id, @type, @data, @effect_id, @hops, @created_at,
       json_group_object(id, disabled_count)
     FROM webhooks WHERE user_id = @user_id AND enabled = 1
       AND (events LIKE '%"' || @type || '"%' OR events LIKE '%"*"%')
     HAVING count(*) > 0
     ON CONFLICT (effect_id) DO NOTHING`,
  );
  const queue = db.prepare(`INSERT INTO jobs (kind, ref, lane, run_at) VALUES ('event', ?, ?, ?)`);
  return (event: NewOutgoingEvent): boolean => {
    if (insert.run(event).changes === 0) return false;
    const lane = ownerLane(event.user_id);
    queue.run(event.id, lane, event.created_at);
    queued.push(lane);
    return true;
  };
};
