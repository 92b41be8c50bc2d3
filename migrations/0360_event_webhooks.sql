-- An event keeps the webhooks that were enabled and wanted it when it happened, as a JSON list of
-- their ids. Times cannot tell that, as clocks are set back.

    ALTER TABLE outgoing_events ADD COLUMN webhook_ids TEXT NOT NULL DEFAULT '[]';
    UPDATE outgoing_events SET webhook_ids =
      (SELECT json_group_array(w.id ORDER BY w.id) FROM webhooks AS w
       WHERE w.user_id = outgoing_events.user_id
         AND (w.events LIKE '%"' || outgoing_events.type || '"%' OR w.events LIKE '%"*"%')
         AND ((w.enabled = 1
             AND coalesce(w.enabled_at, w.created_at) <= outgoing_events.created_at)
           OR w.disabled_at >= outgoing_events.created_at))
      WHERE id IN (SELECT ref FROM jobs WHERE kind = 'event');
    ALTER TABLE webhooks DROP COLUMN enabled_at;
    ALTER TABLE webhooks DROP COLUMN disabled_at;
