-- An event keeps the webhooks that were enabled and wanted it when it happened: a JSON object of
-- their ids and of how often each had been disabled until then. Times cannot tell that, as clocks are
-- set back. Notifications that are read, those of rare kinds, and the jobs of hooks that are being deleted
-- are found without reading all.

    ALTER TABLE webhooks ADD COLUMN disabled_count INTEGER NOT NULL DEFAULT 0;
    UPDATE webhooks SET disabled_count = 1 WHERE disabled_at IS NOT NULL;
    ALTER TABLE outgoing_events ADD COLUMN webhooks TEXT NOT NULL DEFAULT '{}';
    UPDATE outgoing_events SET webhooks =
      (SELECT json_group_object(w.id, CASE
         WHEN w.enabled = 1 AND coalesce(w.enabled_at, w.created_at) <= outgoing_events.created_at
         THEN w.disabled_count ELSE 0 END)
       FROM webhooks AS w
       WHERE w.user_id = outgoing_events.user_id
         AND (w.events LIKE '%"' || outgoing_events.type || '"%' OR w.events LIKE '%"*"%')
         AND ((w.enabled = 1
             AND coalesce(w.enabled_at, w.created_at) <= outgoing_events.created_at)
           OR w.disabled_at >= outgoing_events.created_at))
      WHERE id IN (SELECT ref FROM jobs WHERE kind = 'event');
    ALTER TABLE webhooks DROP COLUMN enabled_at;
    ALTER TABLE webhooks DROP COLUMN disabled_at;

    DROP INDEX notifications_unread;
    CREATE INDEX notifications_unread ON notifications (user_id, id) WHERE read_at IS NULL;
    CREATE INDEX notifications_read ON notifications (user_id, id) WHERE read_at IS NOT NULL;
    CREATE INDEX jobs_of_deletions ON jobs (ref) WHERE kind = 'hook_deletion';
    CREATE INDEX notifications_rare ON notifications (user_id, kind, id) WHERE kind <> 'hook_notice';
