import type Database from 'better-sqlite3';
import { orgOf } from '../../kernel/ids.js';
import type { NotificationRow } from '../../store/tables/notifications.js';
import type { NewOutgoingEvent } from '../../store/tables/outbox.js';

export interface NoticePosting {
  notice: Omit<NotificationRow, 'read_at'>;
  isSent: boolean;
}

/** Lane in which notifications and events wait for their fan-out. */
const ownerLane = (userId: string): string => `owner_${userId}`;

const DECISIONS = new Set<string>(['approval_requested', 'pipeline_waiting']);

export interface QueuedLanes {
  queued: string[];
}

/**
 * False for a repeated effect. Those of an organization go to the members whom it names, requests for
 * a decision only to owners and admins.
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
  const recipients = db.prepare<{ org: string; isDecision: 0 | 1 }, { user_id: string }>(
    `SELECT m.user_id FROM org_members AS m JOIN orgs AS o ON o.id = m.org_id
     WHERE m.org_id = @org AND iif(
       EXISTS (SELECT 1 FROM org_members AS n, json_each(o.notify) AS j
         WHERE n.org_id = @org AND n.user_id = j.value
           AND (NOT @isDecision OR n.role <> 'member')),
       m.user_id IN (SELECT value FROM json_each(o.notify))
         AND (NOT @isDecision OR m.role <> 'member'),
       m.role = 'owner')
     ORDER BY m.id`,
  );
  const post = ({ notice, isSent }: NoticePosting): boolean => {
    if (insert.run(notice).changes === 0) return false;
    const { id, user_id: userId, created_at: at } = notice;
    const lane = ownerLane(userId);
    if (isSent && queue.run(id, lane, at, userId).changes === 1) queued.push(lane);
    return true;
  };
  return (posting: NoticePosting): boolean => {
    const { notice } = posting;
    const { id, user_id: org, effect_id: effect, kind } = notice;
    if (orgOf(org) === null) return post(posting);
    const posted = recipients
      .all({ org, isDecision: DECISIONS.has(kind) ? 1 : 0 })
      .map(({ user_id }, at) => {
        const own = { user_id, effect_id: effect && `${effect} ${user_id}` };
        return post({
          ...posting,
          notice: { ...notice, ...own, id: at === 0 ? id : `${id}-${at}` },
        });
      });
    return posted.includes(true);
  };
};

/**
 * Adds a job only if an enabled webhook subscribes to the type. The types are JSON words without
 * LIKE wildcards.
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
