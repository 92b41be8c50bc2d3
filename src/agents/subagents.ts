import { removeJobOfAgent, resumeAgent } from '../jobs/module.js';
import { excerpt } from '../kernel/excerpt.js';
import { mint } from '../kernel/ids.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import { assertRows, type Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { FINISHED, UNFINISHED } from './agent.js';
import { createRecord } from './record.js';
import type { AgentRows } from './rows.js';
import { type AgentRun, commitWaiting, type Interruption, type LoopDeps } from './run.js';
import { MAX_RESULT_LENGTH, type ToolResult } from './toolcall.js';

/** Returns the effect id of an agent's call, the same over all retries. */
export const effectOf = (agentId: string, callId: string): string => `${agentId}_${callId}`;

/** Returns the sub-agents that answer these calls of an agent, by the ids of the calls. */
export const subAgentsOf = async (
  { rows }: { rows: AgentRows },
  agentId: string,
  calls: ToolCall[],
): Promise<Map<string, AgentRow>> => {
  const byEffect = new Map(calls.map(({ id }) => [effectOf(agentId, id), id]));
  const found = await rows.byEffects([...byEffect.keys()]);
  return new Map(found.map((sub) => [byEffect.get(sub.effect_id ?? '') ?? '', sub]));
};

/** Returns the result of an ended sub-agent as its parent gets it; null while it has not ended. */
export const resultOfSubAgent = (sub: AgentRow): Omit<ToolResult, 'isOutside'> | null => {
  if (!FINISHED.includes(sub.status)) return null;
  const who = `${sub.name} (${sub.id})`;
  if (sub.status === 'completed') return { ok: true, content: `Reply of ${who}:\n\n${sub.result}` };
  if (sub.status === 'failed') return { ok: false, content: `${who} failed: ${sub.error}` };
  return { ok: false, content: `${who} was stopped before it replied.` };
};

/**
 * Lets the agent wait until one of these sub-agents ends. It stays `running`, without a job: its
 * place in the queue is free for the sub-agents. Goes on if one has ended already.
 */
export const waitForAgents = async (
  deps: LoopDeps,
  { agent, activeMs }: AgentRun,
  calls: ToolCall[],
): Promise<'again' | Interruption> => {
  const subs = await subAgentsOf(deps, agent.id, calls);
  const effects = calls.map(({ id }) => effectOf(agent.id, id));
  const record = createRecord(deps, agent)
    .add(onlyUnfinished(deps.store, effects))
    .only(['running'], { active_ms: activeMs() })
    .event('agent.status', {
      status: 'running',
      waitingFor: [...subs.values()].map(({ id, name, role }) => ({ id, name, role })),
    })
    .add(removeJobOfAgent(agent.id));
  return commitWaiting(record);
};

/**
 * Builds a statement that holds while no sub-agent with these effects has ended; it throws Unmet
 * otherwise.
 */
export const onlyUnfinished = ({ db }: Store, effects: (string | null)[]): Statement => {
  const unfinished = db
    .selectFrom('agents')
    .select('id')
    .where('effect_id', 'in', effects)
    .where('status', 'in', UNFINISHED);
  return assertRows(unfinished, effects.length);
};

/** Returns the text for a parent that no longer waits for a sub-agent, because a message came. */
export const notWaitedText = ({ name, id }: Pick<AgentRow, 'name' | 'id'>): string =>
  `${name} (${id}) is still at work. Its result will come as a message.`;

/**
 * Builds the statements for a sub-agent that has ended, or is about to be removed. Its parent
 * continues if it waits, and gets the result as a message if it went on without it. The parent's
 * working time continues from that of its sub-agents; those that worked in parallel count once.
 */
export const wakeParent = (store: Store, sub: AgentRow, at: string): Statement[] => {
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
    ...bringLate(sub, at),
    resumeAgent(store, parent_id, at),
  ];
};

/**
 * Builds the statements that send the result to a parent that was told that the sub-agent is still
 * at work; nothing for any other.
 */
const bringLate = (sub: AgentRow, at: string): Statement[] => {
  const { id, parent_id, effect_id } = sub;
  const brought = resultOfSubAgent(sub);
  if (parent_id === null || effect_id === null || !brought) return [];
  const parameters = [
    {
      id,
      parentId: parent_id,
      at,
      messageId: mint('message', Date.parse(at)),
      callId: effect_id.slice(effectOf(parent_id, '').length),
      notWaited: notWaitedText(sub),
      content: `${LATE_RESULT}\n\n${excerpt(brought.content, MAX_RESULT_LENGTH)}`,
    },
  ];
  return LATE.map((sql) => ({ sql, parameters }));
};

const LATE_RESULT = 'Late result of a sub-agent:';

const IS_AWAITED = `EXISTS (SELECT 1 FROM messages AS reply WHERE reply.session_id = p.session_id
    AND reply.role = 'tool' AND reply.tool_call_id = @callId AND reply.content = @notWaited)
  AND NOT EXISTS (SELECT 1 FROM messages AS late WHERE late.session_id = p.session_id
    AND late.role = 'user' AND late.agent_id = @id)`;

/**
 * The statements for a late result: the message and then, if the parent has answered already and no
 * other agent is at work in the session, the parent's next turn with its state, its event and its
 * job.
 */
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
