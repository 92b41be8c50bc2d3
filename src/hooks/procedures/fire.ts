import type Database from 'better-sqlite3';
import type { ExecutionRow, HookRow } from '../../store/tables/hooks.js';

export interface FiringRequest {
  userId: string;
  trigger: HookRow['trigger'];
  hookId: string | null;
}

/** Returns nothing if a hook with an agent trigger spawned the agent, to prevent loops. */
export const findTriggeredHooks = (db: Database.Database) => {
  const find = db.prepare<[FiringRequest], { id: string }>(
    `SELECT id FROM hooks WHERE user_id = @userId AND "trigger" = @trigger AND enabled = 1
      AND NOT EXISTS (SELECT 1 FROM hooks AS own WHERE own.id = @hookId
        AND own."trigger" IN ('agent_completed', 'agent_failed', 'approval_requested'))`,
  );
  return (request: FiringRequest): string[] => find.all(request).map(({ id }) => id);
};

export type NamedExecution = Pick<
  ExecutionRow,
  'id' | 'hook_id' | 'trigger' | 'action' | 'context' | 'status' | 'error' | 'finished_at'
> & { name: string; event: string | null };

export const namedExecution = (db: Database.Database) => {
  const find = db.prepare<[string], NamedExecution>(
    `SELECT e.id, e.hook_id, h.name, e."trigger", e.action, e.context, e.status, e.error,
        e.finished_at, d.event
      FROM executions AS e JOIN hooks AS h ON h.id = e.hook_id
      LEFT JOIN deliveries AS d ON d.id = e.delivery_id
      WHERE e.id = ?`,
  );
  return (id: string): NamedExecution | undefined => find.get(id);
};
