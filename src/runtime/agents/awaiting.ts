import type { ToolCall } from '../../providers/llm/model.js';
import { type Statement, Unmet } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { removeJobOfAgent, resumeAgent } from '../jobs/statements.js';
import { FINISHED, UNFINISHED } from './agent.js';
import { createRecord } from './record.js';
import { Gone, type LoopDeps, type Run } from './run.js';

/** What a call of an agent is known by to whoever does it, over all retries. */
export const effectOf = (agentId: string, callId: string): string => `${agentId}_${callId}`;

/** The sub-agents that answer these calls of an agent, by the ids of the calls. */
export const answering = async (
  { rows }: Pick<LoopDeps, 'rows'>,
  agentId: string,
  calls: ToolCall[],
): Promise<Map<string, AgentRow>> => {
  const byEffect = new Map(calls.map(({ id }) => [effectOf(agentId, id), id]));
  const found = await rows.byEffects([...byEffect.keys()]);
  return new Map(found.map((sub) => [byEffect.get(sub.effect_id ?? '') ?? '', sub]));
};

/** What its parent is told of a sub-agent that has ended; null while it has not. */
export const broughtBy = (sub: AgentRow): { ok: boolean; content: string } | null => {
  if (!FINISHED.includes(sub.status)) return null;
  const who = `${sub.name} (${sub.id})`;
  if (sub.status === 'completed') return { ok: true, content: `${who} answers:\n\n${sub.result}` };
  if (sub.status === 'failed') return { ok: false, content: `${who} failed: ${sub.error}` };
  return { ok: false, content: `${who} was stopped before it had an answer.` };
};

/**
 * The agent rests until one of these sub-agents ends. It stays `running`, without a job: its place in
 * the queue is free for those it waits for, and the run ends (Gone). False where one has ended already.
 */
export const waitForAgents = async (
  deps: LoopDeps,
  { agent, activeMs }: Run,
  calls: ToolCall[],
): Promise<false> => {
  const subs = await answering(deps, agent.id, calls);
  const record = createRecord(deps, agent)
    .add(onlyUnfinished(deps.store, agent.id, calls))
    .only(['running'], { active_ms: activeMs() })
    .event('agent.status', {
      status: 'running',
      waitingFor: [...subs.values()].map(({ id, name, role }) => ({ id, name, role })),
    })
    .add(removeJobOfAgent(deps.store, agent.id));
  try {
    await record.commit();
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if (error.at === 0) return false;
  }
  throw new Gone();
};

/** Holds (Unmet otherwise) while none of those who do these calls has ended. */
const onlyUnfinished = ({ db }: Store, agentId: string, calls: ToolCall[]): Statement => {
  const effects = calls.map(({ id }) => effectOf(agentId, id));
  const touched = db
    .updateTable('agents')
    .set((of) => ({ status: of.ref('status') }))
    .where('effect_id', 'in', effects)
    .where('status', 'in', UNFINISHED);
  return statement(touched, calls.length);
};

/**
 * A sub-agent has ended, or is about to be removed: its parent goes on if it waits. What the parent
 * has worked counts on from where its sub-agents came to, those that worked side by side once.
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
  return [...(sub.effect_id === null ? [] : [charge]), resumeAgent(store, parent_id, at)];
};
