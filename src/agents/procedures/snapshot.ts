import type Database from 'better-sqlite3';
import type { UserRow } from '../../store/tables/accounts.js';
import { type AgentRow, agentTable, type MessageRow } from '../../store/tables/agents.js';
import type { PermissionRow } from '../../store/tables/permissions.js';

/** The facts by which the loop decides: an agent, its owner's permissions and, for a step, its conversation. */
export interface AgentSnapshot {
  /** Undefined if the agent was removed. */
  agent: AgentRow | undefined;
  levels: Pick<PermissionRow, 'skill_id' | 'action' | 'level'>[];
  owner: Pick<UserRow, 'role' | 'permissions'> | undefined;
  /** All messages of its session, oldest first; none if they were not asked for. */
  messages: SaidRow[];
}

export type SaidRow = Pick<
  MessageRow,
  'seq' | 'role' | 'content' | 'tool_calls' | 'tool_call_id' | 'agent_id'
>;

export interface SnapshotRequest {
  agentId: string;
  userId: string;
  /** The session whose messages are wanted, or null. */
  sessionId: string | null;
  /** The time in ISO 8601, by which levels expire. */
  now: string;
}

/** Reads a snapshot of an agent in one read transaction. */
export const agentSnapshot = (db: Database.Database) => {
  const agentOf = db.prepare<[string], AgentRow>(
    `SELECT ${agentTable.columns.join(', ')} FROM agents WHERE id = ?`,
  );
  const levelsOf = db.prepare<[string, string], AgentSnapshot['levels'][number]>(
    `SELECT skill_id, action, level FROM permissions
      WHERE user_id = ? AND (expires_at IS NULL OR expires_at > ?)`,
  );
  const ownerOf = db.prepare<[string], NonNullable<AgentSnapshot['owner']>>(
    'SELECT role, permissions FROM users WHERE id = ?',
  );
  const messagesOf = db.prepare<[string], SaidRow>(
    `SELECT seq, role, content, tool_calls, tool_call_id, agent_id FROM messages
      WHERE session_id = ? ORDER BY seq`,
  );
  return db.transaction(
    ({ agentId, userId, sessionId, now }: SnapshotRequest): AgentSnapshot => ({
      agent: agentOf.get(agentId),
      levels: levelsOf.all(userId, now),
      owner: ownerOf.get(userId),
      messages: sessionId === null ? [] : messagesOf.all(sessionId),
    }),
  );
};
