import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What a database says of its executions; looked at from outside, with no daemon in between. */
export interface Ledger {
  executions: Map<
    string,
    { action: string; status: string; ended: string; agentId: string | null }
  >;
  jobs: number;
  /** Executions whose agent has not ended. */
  unfinished: number;
  /** Executions that more than one agent was made for. */
  doubled: number;
  /** Notifications that hooks have sent. */
  notices: number;
  integrity: string;
}

const ENDED = ['success', 'error', 'skipped', 'interrupted'];

export const readLedger = (home: string): Ledger => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  try {
    // One snapshot: what ends between two of the questions must not look stuck.
    db.exec('BEGIN');
    const count = (sql: string): number => Number(db.prepare(sql).pluck().get());
    const rows = db
      .prepare<[], Row>(
        `SELECT e.id, e.action, e.status, e.agent_id,
           json_array(e.status, e.finished_at, e.attempts, e.result, e.error) AS ended
         FROM executions AS e`,
      )
      .all();
    return {
      executions: new Map(
        rows.map(({ id, agent_id, ...row }) => [id, { ...row, agentId: agent_id }]),
      ),
      jobs: count(
        `SELECT (SELECT count(*) FROM jobs)
           + (SELECT count(*) FROM executions WHERE run_at IS NOT NULL)`,
      ),
      unfinished: count(
        `SELECT count(*) FROM agents WHERE status NOT IN ('completed', 'failed', 'stopped')`,
      ),
      doubled: count(
        `SELECT count(*) FROM (SELECT 1 FROM agents WHERE execution_id IS NOT NULL
         GROUP BY execution_id HAVING count(*) > 1)`,
      ),
      notices: count(`SELECT count(*) FROM notifications WHERE kind = 'hook_notice'`),
      integrity: String(db.pragma('integrity_check(1)', { simple: true })),
    };
  } finally {
    db.close();
  }
};

interface Row {
  id: string;
  action: string;
  status: string;
  agent_id: string | null;
  ended: string;
}

/** Executions with an end, and what that end was. */
export const endedOf = ({ executions }: Ledger): Map<string, string> =>
  new Map(
    [...executions].flatMap(([id, { status, ended }]) =>
      ENDED.includes(status) ? [[id, ended] as const] : [],
    ),
  );
