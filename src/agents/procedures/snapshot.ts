import type Database from 'better-sqlite3';
import {
  type AgentRow,
  type AgentSnapshot,
  agentTable,
  type TranscriptMessageRow,
} from '../../store/tables/agents.js';

export interface SnapshotRequest {
  agentId: string;
  userId: string;
  sessionId: string | null;
  /** ISO 8601. Expired levels are ignored. */
  now: string;
}

export const agentSnapshot = (db: Database.Database) => db.transaction(snapshotReader(db));

export const snapshotReader = (db: Database.Database) => {
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
  const messagesOf = db.prepare<[string], TranscriptMessageRow>(
    `SELECT seq, role, content, tool_calls, tool_call_id, agent_id, generation FROM messages
      WHERE session_id = ? ORDER BY seq`,
  );
  const remembers = db.prepare<[string]>(
    'SELECT 1 FROM memories WHERE user_id = ? AND confirmed = 1 LIMIT 1',
  );
  const zoneOf = db.prepare<[string], { timezone: string }>(
    'SELECT timezone FROM notification_settings WHERE user_id = ?',
  );
  return ({ agentId, userId, sessionId, now }: SnapshotRequest): AgentSnapshot => {
    const agent = agentOf.get(agentId);
    const isGiven = sessionId !== null && (agent?.hook_id === null || agent?.memory === 1);
    return {
      agent,
      levels: levelsOf.all(userId, now),
      owner: ownerOf.get(userId),
      messages: sessionId === null ? [] : messagesOf.all(sessionId),
      hasMemories: isGiven && remembers.get(userId) !== undefined,
      timezone: zoneOf.get(userId)?.timezone ?? 'UTC',
    };
  };
};
