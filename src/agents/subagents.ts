import { resumeAgent } from '../jobs/module.js';
import { excerpt } from '../kernel/excerpt.js';
import { mint } from '../kernel/ids.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import { assertRows, type Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { FINISHED, UNFINISHED } from './agent.js';
import type { AgentRows } from './rows.js';
import { MAX_RESULT_LENGTH, type ToolResult } from './toolcall.js';

/** The same for all retries. */
export const callEffectId = (agentId: string, callId: string): string => `${agentId}_${callId}`;

export const findSubAgents = async (
  { rows }: { rows: AgentRows },
  agentId: string,
  calls: ToolCall[],
): Promise<Map<string, AgentRow>> => {
  const byEffect = new Map(calls.map(({ id }) => [callEffectId(agentId, id), id]));
  const found = await rows.byEffects([...byEffect.keys()]);
  return new Map(found.map((sub) => [byEffect.get(sub.effect_id ?? '') ?? '', sub]));
};

/** Null while the sub-agent is unfinished. */
export const subAgentResult = (sub: AgentRow): Omit<ToolResult, 'isOutside'> | null => {
  if (!FINISHED.includes(sub.status)) return null;
  const who = `${sub.name} (${sub.id})`;
  if (sub.status === 'completed') return { ok: true, content: `Reply of ${who}:\n\n${sub.result}` };
  if (sub.status === 'failed') return { ok: false, content: `${who} failed: ${sub.error}` };
  return { ok: false, content: `${who} was stopped before it replied.` };
};

/** Holds while no sub-agent with these effects has ended. Throws Unmet otherwise. */
export const assertUnfinished = ({ db }: Store, effects: (string | null)[]): Statement => {
  const unfinished = db
    .selectFrom('agents')
    .select('id')
    .where('effect_id', 'in', effects)
    .where('status', 'in', UNFINISHED);
  return assertRows(unfinished, effects.length);
};

/** Compared in SQL below. Do not change it: stored messages contain it. */
export const stillRunningText = ({ name, id }: Pick<AgentRow, 'name' | 'id'>): string =>
  `${name} (${id}) is still at work. Its result will come as a message.`;

/**
 * The parent resumes if it waits, and otherwise gets the result as a message. Its working time
 * continues from that of its sub-agents. Parallel ones count once.
 */
export const resumeParent = (store: Store, sub: AgentRow, at: string): Statement[] => {
  const { id, parent_id, parent_ms } = sub;
  if (parent_id === null) return [];
  const charge = {
    sql: `UPDATE agents SET active_ms = max(active_ms,
        @parentMs + coalesce((SELECT active_ms FROM agents WHERE id = @id), 0))
      WHERE id = @parentId AND status IN ('running', 'waiting_approval', 'paused')`,
    parameters: [{ id, parentId: parent_id, parentMs: parent_ms }],
  };
  return [
    ...(sub.effect_id === null ? [] : [charge]),
    ...lateResultStatements(sub, at),
    resumeAgent(store, parent_id, at),
  ];
};

/** Only for a parent that stopped waiting for the sub-agent. */
const lateResultStatements = (sub: AgentRow, at: string): Statement[] => {
  const { id, parent_id, effect_id } = sub;
  const brought = subAgentResult(sub);
  if (parent_id === null || effect_id === null || !brought) return [];
  const parameters = [
    {
      id,
      parentId: parent_id,
      at,
      messageId: mint('message', Date.parse(at)),
      callId: effect_id.slice(callEffectId(parent_id, '').length),
      notWaited: stillRunningText(sub),
      content: `${LATE_RESULT_HEADING}\n\n${excerpt(brought.content, MAX_RESULT_LENGTH)}`,
    },
  ];
  return LATE.map((sql) => ({ sql, parameters }));
};

const LATE_RESULT_HEADING = 'Late result of a sub-agent:';

const IS_AWAITED = `EXISTS (SELECT 1 FROM messages AS reply WHERE reply.session_id = p.session_id
    AND reply.role = 'tool' AND reply.tool_call_id = @callId AND reply.content = @notWaited)
  AND NOT EXISTS (SELECT 1 FROM messages AS late WHERE late.session_id = p.session_id
    AND late.role = 'user' AND late.agent_id = @id)`;

/** The message and, if the parent has already answered and the session is free, its next turn. */
const LATE = [
  `INSERT INTO messages
      (id, session_id, seq, role, content, tool_calls, tool_call_id, agent_id, created_at)
    SELECT @messageId, s.id, s.message_count + 1, 'user', @content, NULL, NULL, @id, @at
      FROM agents AS p JOIN sessions AS s ON s.id = p.session_id
      WHERE p.id = @parentId AND ${IS_AWAITED}`,
  `UPDATE sessions SET message_count = message_count + 1, updated_at = @at
    WHERE changes() = 1 AND id = (SELECT session_id FROM agents WHERE id = @parentId)`,
  `UPDATE agents SET status = 'queued', result = NULL, error = NULL, finished_at = NULL
    WHERE changes() = 1 AND id = @parentId AND status = 'completed'
      AND NOT EXISTS (SELECT 1 FROM agents AS other WHERE other.session_id = agents.session_id
        AND other.status IN (${UNFINISHED.map((status) => `'${status}'`).join()}))`,
  `INSERT INTO agent_events (agent_id, seq, type, data, at)
    SELECT @parentId, (SELECT coalesce(max(seq), 0) + 1 FROM agent_events WHERE agent_id = @parentId),
      'agent.status', '{"status":"queued"}', @at WHERE changes() = 1`,
  `INSERT INTO jobs (kind, ref, lane, run_at)
    SELECT 'agent', id, lane, @at FROM agents WHERE changes() = 1 AND id = @parentId`,
];
