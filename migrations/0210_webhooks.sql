-- Indexes of the messages of one outgoing webhook, newest first and by state. A message that a person
-- sends again begins its schedule anew, after so many attempts.

    ALTER TABLE sendings ADD COLUMN resent_after INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX sendings_by_webhook ON sendings (webhook_id, id, status)
      WHERE webhook_id IS NOT NULL;
    CREATE INDEX webhooks_by_credential ON webhooks (credential_id)
      WHERE credential_id IS NOT NULL;
