import type Database from 'better-sqlite3';
import type { Statement } from './engine/protocol.js';
import type { AgentEventRow, Generation, MessageRow } from './tables/agents.js';

/** Events kept per agent (spec: Limits). */
const RING = 200;

export type NewMessage = Omit<MessageRow, 'seq' | 'tool_calls' | 'generation'> & {
  tool_calls: unknown[] | null;
  generation?: Generation;
};

export const appendMessage = (message: NewMessage): Statement[] => [
  {
    sql: 'UPDATE sessions SET message_count = message_count + 1, updated_at = ? WHERE id = ?',
    parameters: [message.created_at, message.session_id],
    expect: 1,
  },
  {
    sql: `INSERT INTO messages
        (id, session_id, seq, role, content, tool_calls, tool_call_id, agent_id, created_at, generation)
      SELECT ?, id, message_count, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`,
    parameters: [
      message.id,
      message.role,
      message.content,
      message.tool_calls === null ? null : JSON.stringify(message.tool_calls),
      message.tool_call_id,
      message.agent_id,
      message.created_at,
      message.generation === undefined ? null : JSON.stringify(message.generation),
      message.session_id,
    ],
    expect: 1,
  },
];

export interface NewEvent {
  agentId: string;
  type: AgentEventRow['type'];
  data: Record<string, unknown>;
  at: string;
}

const INSERT_EVENT = `INSERT INTO agent_events (agent_id, seq, type, data, at)
  SELECT ?, coalesce(max(seq), 0) + 1, ?, ?, ? FROM agent_events WHERE agent_id = ?
  RETURNING seq`;
const PRUNE_EVENTS = `DELETE FROM agent_events WHERE agent_id = ?
  AND seq <= (SELECT max(seq) FROM agent_events WHERE agent_id = ?) - ${RING}`;

/** Numbered from 1. The first statement returns the number. */
export const appendEvent = ({ agentId, type, data, at }: NewEvent): Statement[] => [
  { sql: INSERT_EVENT, parameters: [agentId, type, JSON.stringify(data), at, agentId] },
  { sql: PRUNE_EVENTS, parameters: [agentId, agentId] },
];

export const eventAppender = (db: Database.Database) => {
  const insert = db.prepare<unknown[], { seq: number }>(INSERT_EVENT);
  const prune = db.prepare<unknown[]>(PRUNE_EVENTS);
  return ({ agentId, type, data, at }: NewEvent): number => {
    const row = insert.get(agentId, type, JSON.stringify(data), at, agentId);
    prune.run(agentId, agentId);
    return row?.seq ?? 0;
  };
};
