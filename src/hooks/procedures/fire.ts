import type Database from 'better-sqlite3';
import type { ExecutionRow, HookRow } from '../../store/tables/hooks.js';

/** The end of an agent, or its request for an approval, for which hooks may fire. */
export interface FiringRequest {
  userId: string;
  trigger: HookRow['trigger'];
  /** The hook that spawned the agent, or null. */
  hookId: string | null;
}

/**
 * Returns the ids of the owner's enabled hooks with that trigger; none if a hook with a trigger on
 * agents spawned the agent itself.
 */
export const firedHooks = (db: Database.Database) => {
  const find = db.prepare<[FiringRequest], { id: string }>(
    `SELECT id FROM hooks WHERE user_id = @userId AND "trigger" = @trigger AND enabled = 1
      AND NOT EXISTS (SELECT 1 FROM hooks AS own WHERE own.id = @hookId
        AND own."trigger" IN ('agent_completed', 'agent_failed', 'approval_requested'))`,
  );
  return (request: FiringRequest): string[] => find.all(request).map(({ id }) => id);
};

/** An execution with the name of its hook and the event of its delivery. */
export type NamedExecution = Pick<
  ExecutionRow,
  'id' | 'hook_id' | 'trigger' | 'action' | 'context' | 'status' | 'error' | 'finished_at'
> & { name: string; event: string | null };

/** Returns an execution; undefined if it was deleted. */
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
