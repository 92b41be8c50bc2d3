import type Database from 'better-sqlite3';
import { type AgentBeginning, type AgentRow, agentTable } from '../../store/tables/agents.js';
import { eventAppender } from '../../store/transcript.js';
import { snapshotReader } from './snapshot.js';

/** A running agent is resumed. `at` is an ISO 8601 time. */
export const beginAgent = (db: Database.Database) => {
  const find = db.prepare<[string], AgentRow>(
    `SELECT ${agentTable.columns.join(', ')} FROM agents WHERE id = ?`,
  );
  const isEnabled = db.prepare('SELECT 1 FROM users WHERE id = ? AND disabled_at IS NULL');
  const move = db.prepare(
    `UPDATE agents SET status = 'running', started_at = coalesce(started_at, ?) WHERE id = ?`,
  );
  const append = eventAppender(db);
  const read = snapshotReader(db);
  return ({ id, at }: { id: string; at: string }): AgentBeginning => {
    const agent = find.get(id);
    if (agent?.status !== 'queued' && agent?.status !== 'running') return { is: 'gone' };
    // Covers an agent that started while the account was disabled, or that a crash left over.
    if (!isEnabled.get(agent.user_id)) return { is: 'suspended', agent };
    const isResumed = agent.status === 'running';
    if (!isResumed) move.run(at, id);
    const data = { status: 'running', ...(isResumed && { resumed: true }) };
    const number = append({ agentId: id, type: 'agent.status', data, at });
    const { user_id: userId, session_id: sessionId } = agent;
    const snapshot = read({ agentId: id, userId, sessionId, now: at });
    return { is: 'begun', agent, event: { number, data, at }, snapshot };
  };
};
