/** A statement that stops one automatic action of a copied database. */
export interface QuarantineStatement {
  /** The first schema that has the tables of the statement, and the first for which it is not. */
  since: number;
  until?: number;
  sql: string;
  /** The count to which the number of changed rows is reported, if any. */
  counts?: keyof QuarantineCounts;
}

/**
 * Returns the statement that makes a message of each waiting event for each of these webhooks. Its id
 * is that of the event, with the number of the webhook in the place of the last digits.
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

/** The number of things in quarantine. */
export interface QuarantineCounts {
  agents: number;
  executions: number;
  schedules: number;
  /** The folders that were watched. */
  folders: number;
}

/**
 * The statements that put a database into quarantine when it continues as a copy, after a restore
 * or a rollback. The other copy may have done this work, or may still do it, and nothing may happen
 * twice. Nothing is lost: waiting work stays, in a state from which a person can continue it. The
 * statements run in this order, each on the schema of the copy, before any migration. A new part of
 * the daemon that acts by itself (a queue, a schedule, a sender) needs a line here.
 */
export const HOLDS: QuarantineStatement[] = [
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
    // The approval was for a call that may have been made; the agent asks again.
    since: 130,
    sql: `UPDATE approvals SET used_at = @at WHERE status = 'approved' AND used_at IS NULL`,
  },
  // What stands in the other copy may have been revoked there.
  { since: 380, sql: 'DELETE FROM approval_grants' },
  {
    since: 30,
    sql: `UPDATE hooks SET enabled = 0 WHERE trigger = 'schedule' AND enabled = 1`,
    counts: 'schedules',
  },
  {
    // Nothing is sent twice automatically. A dead letter can be sent again by a person.
    since: 180,
    sql: `UPDATE sendings SET status = 'unknown', finished_at = @at, next_at = NULL,
        error = @why || ': it may have been sent elsewhere'
      WHERE status IN ('queued', 'sending')`,
  },
  // Events that no message was made of yet: one for each webhook, in the same state.
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
    // What a step of it does may have been done elsewhere.
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
  // They waited for a second: the other copy has given them to its agents.
  { since: 682, sql: 'DELETE FROM message_parts' },
  { since: 510, sql: 'UPDATE knowledge_folders SET watch = 0 WHERE watch = 1', counts: 'folders' },
  { since: 600, until: 630, sql: 'UPDATE mail_accounts SET watch = 0' },
  {
    // What is new is processed by the other copy. Here it counts from now on, once it is watched.
    since: 630,
    sql: 'UPDATE mail_accounts SET watch = 0, new_from = @at',
  },
  {
    // The other copy sends what waits, and may have sent what was on its way.
    since: 640,
    sql: `UPDATE mail_sent SET status = 'unknown', next_at = NULL, finished_at = @at,
        recipients = replace(recipients, '"status":"queued"', '"status":"unknown"'),
        error = @why || ': it may have been sent elsewhere'
      WHERE status IN ('queued', 'sending')`,
  },
  { since: 640, sql: `UPDATE mail_sent SET copy = 'none' WHERE copy = 'wanted'` },
  // The other copy told these. Later ones are told by this copy too.
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
  // These rows describe files of another home.
  { since: 250, sql: 'DELETE FROM backups' },
  { since: 310, sql: `DELETE FROM audit_heads WHERE place = 'outside'` },
  {
    since: 10,
    sql: `INSERT INTO facts (name, value) VALUES ('held_at', @at)
      ON CONFLICT DO UPDATE SET value = excluded.value`,
  },
];
