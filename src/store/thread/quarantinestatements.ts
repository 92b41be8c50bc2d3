export interface QuarantineStatement {
  /** First schema with the tables, and first schema to which it no longer applies. */
  since: number;
  until?: number;
  sql: string;
  counts?: keyof QuarantineCounts;
}

/**
 * Creates a message per waiting event and webhook. Its ID is that of the event, with the webhook
 * number as last digits.
 */
const unsentEvents = (webhooks: string): string => `
  INSERT INTO sendings
    (id, user_id, webhook_id, cause_id, kind, content, status, error, created_at, finished_at)
  SELECT 'sending_' || substr(e.id, 7, 22)
      || printf('%04d', row_number() OVER (PARTITION BY e.id ORDER BY w.id)),
    e.user_id, w.id, e.id, e.type,
    json_object('type', e.type, 'timestamp', e.created_at, 'data', json(e.data)),
    'unknown', @why || ': it may have been sent elsewhere', e.created_at, @at
  FROM jobs AS j JOIN outgoing_events AS e ON e.id = j.ref ${webhooks}
  WHERE j.kind = 'event' ON CONFLICT DO NOTHING`;

export interface QuarantineCounts {
  agents: number;
  executions: number;
  schedules: number;
  folders: number;
}

/**
 * Quarantine after a restore or rollback: the other copy may have done this work or may still do
 * it, and nothing may happen twice. Waiting work stays in a state from which a person can continue
 * it. Statements run in order, on the schema of the copy, before migrations. Every new automatic
 * part of the daemon (queue, schedule, sender) needs an entry here.
 */
export const QUARANTINE_STATEMENTS: QuarantineStatement[] = [
  {
    since: 40,
    sql: `INSERT INTO agent_events (agent_id, seq, type, data, at)
      SELECT id, (SELECT coalesce(max(seq), 0) + 1 FROM agent_events WHERE agent_id = agents.id),
        'agent.status', json_object('status', 'paused', 'reason', @why), @at
      FROM agents WHERE status IN ('queued', 'running', 'waiting_approval')`,
  },
  {
    since: 40,
    sql: `UPDATE agents SET status = 'paused'
      WHERE status IN ('queued', 'running', 'waiting_approval')`,
    counts: 'agents',
  },
  {
    // Executions whose agent is paused end with it.
    since: 40,
    sql: `UPDATE executions SET status = 'interrupted', finished_at = @at,
        error = @why || ': it may have run elsewhere. Replay it if it should run here'
      WHERE status IN ('queued', 'running') AND NOT EXISTS
        (SELECT 1 FROM agents AS a WHERE a.execution_id = executions.id AND a.status = 'paused')`,
    counts: 'executions',
  },
  {
    // The approved call may have been made. The agent asks again.
    since: 130,
    sql: `UPDATE approvals SET used_at = @at WHERE status = 'approved' AND used_at IS NULL`,
  },
  // Grants may have been revoked in the other copy.
  { since: 380, sql: 'DELETE FROM approval_grants' },
  {
    since: 30,
    sql: `UPDATE hooks SET enabled = 0 WHERE trigger = 'schedule' AND enabled = 1`,
    counts: 'schedules',
  },
  {
    // Nothing is resent automatically. A person can resend a dead letter.
    since: 180,
    sql: `UPDATE sendings SET status = 'unknown', finished_at = @at, next_at = NULL,
        error = @why || ': it may have been sent elsewhere'
      WHERE status IN ('queued', 'sending')`,
  },
  // Events without messages yet: one per webhook, in the same state.
  {
    since: 180,
    until: 360,
    sql: unsentEvents(`JOIN webhooks AS w ON w.user_id = e.user_id
      AND w.enabled = 1 AND (w.events LIKE '%"' || e.type || '"%' OR w.events LIKE '%"*"%')`),
  },
  {
    since: 360,
    sql: unsentEvents('JOIN webhooks AS w ON w.id IN (SELECT key FROM json_each(e.webhooks))'),
  },
  {
    since: 370,
    sql: `UPDATE operations SET status = 'interrupted', finished_at = @at,
        error = @why || ': it may go on elsewhere. Begin it again if it should run here'
      WHERE status IN ('queued', 'running')`,
  },
  {
    since: 450,
    sql: `UPDATE reader_tasks SET status = 'failed', finished_at = @at,
        error = @why || ': it may be read elsewhere. Read the page again if it should be read here'
      WHERE status IN ('queued', 'running')`,
  },
  {
    since: 490,
    sql: `UPDATE research_jobs SET status = 'failed', finished_at = @at,
        error = @why || ': it may go on elsewhere. Ask again if it should be researched here'
      WHERE status NOT IN ('completed', 'failed', 'cancelled')`,
  },
  {
    since: 541,
    sql: `UPDATE recurring_runs SET status = 'error', finished_at = @at,
        error = @why || ': it may have run elsewhere. Run it again if it should run here'
      WHERE status IN ('queued', 'running')`,
  },
  {
    since: 541,
    sql: 'UPDATE recurring_tasks SET enabled = 0, next_run_at = NULL WHERE enabled = 1',
    counts: 'schedules',
  },
  // The other copy has passed these to its agents.
  { since: 682, sql: 'DELETE FROM message_parts' },
  { since: 510, sql: 'UPDATE knowledge_folders SET watch = 0 WHERE watch = 1', counts: 'folders' },
  { since: 600, until: 630, sql: 'UPDATE mail_accounts SET watch = 0' },
  {
    // The other copy processes new messages. Here they count from the moment the account is watched
    // again.
    since: 630,
    sql: 'UPDATE mail_accounts SET watch = 0, new_from = @at',
  },
  {
    // The other copy sends waiting messages, and may have sent those in progress.
    since: 640,
    sql: `UPDATE mail_sent SET status = 'unknown', next_at = NULL, finished_at = @at,
        recipients = replace(recipients, '"status":"queued"', '"status":"unknown"'),
        error = @why || ': it may have been sent elsewhere'
      WHERE status IN ('queued', 'sending')`,
  },
  { since: 640, sql: `UPDATE mail_sent SET copy = 'none' WHERE copy = 'wanted'` },
  // The other copy sent these reminders. Later ones are sent by this copy too.
  { since: 530, sql: 'UPDATE tasks SET remind_at = NULL WHERE remind_at <= @at' },
  {
    since: 555,
    sql: `UPDATE pipeline_stages SET status = 'stopped', due = NULL, due_at = NULL, digest = NULL,
        finished_at = @at WHERE finished_at IS NULL`,
  },
  {
    since: 555,
    sql: `UPDATE pipeline_runs SET status = 'stopped', finished_at = @at, deadline_at = NULL,
        error = @why || ': it may go on elsewhere. Retry it if it should run here'
      WHERE finished_at IS NULL`,
  },
  {
    since: 580,
    sql: `UPDATE transcriptions SET status = 'failed', code = 'interrupted', finished_at = @at,
        error = @why || ': the audio is in no backup. Transcribe the file again'
      WHERE status IN ('queued', 'running')`,
  },
  { since: 200, sql: 'DELETE FROM notice_batches' },
  { since: 20, sql: 'DELETE FROM jobs' },
  {
    since: 340,
    sql: 'UPDATE executions SET run_at = NULL, boot = NULL WHERE run_at IS NOT NULL',
  },
  // Two copies cannot serve one address.
  { since: 230, sql: 'UPDATE tunnel SET is_on = 0, process = NULL' },
  { since: 250, sql: 'DELETE FROM backups' },
  { since: 310, sql: `DELETE FROM audit_heads WHERE place = 'outside'` },
  {
    since: 10,
    sql: `INSERT INTO facts (name, value) VALUES ('held_at', @at)
      ON CONFLICT DO UPDATE SET value = excluded.value`,
  },
];
