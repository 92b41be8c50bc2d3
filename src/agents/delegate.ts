import { sql } from 'kysely';
import { type Expert, type Experts, modelAndPersona } from '../experts/module.js';
import { addJobFirst, type Queue } from '../jobs/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { assertRows, isCommitted, type Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import {
  type Delegate,
  type Delegation,
  PendingResult,
  type ToolContext,
  ToolRefused,
} from '../tools/module.js';
import { type AgentLimits, JOB } from './agent.js';
import type { Models } from './models.js';
import type { RecordDeps } from './record.js';
import type { AgentRows } from './rows.js';
import { type SpawnRequest, spawnRecord } from './spawn.js';

export interface DelegateDeps extends RecordDeps {
  rows: AgentRows;
  models: Models;
  experts: Experts;
  queue: Queue;
}

/**
 * One transaction creates the sub-agent and checks the limit, so that simultaneous calls cannot
 * exceed it.
 */
export const createDelegate =
  (deps: DelegateDeps): Delegate =>
  async (order, context) => {
    const parent = context.agentId === null ? undefined : await deps.rows.byId(context.agentId);
    if (!parent) throw refused('only an agent can delegate');
    const child = await subAgent(deps, { parent, order, context });
    const { id, record } = spawnRecord(deps, child, assertRoom(deps.store, parent));
    record.add(addJobFirst(deps.store, { kind: JOB, ref: id, lane: child.lane, runAt: record.at }));
    if (!(await isCommitted(record.commit()))) throw refused(await refusalReason(deps, parent));
    deps.queue.added(child.lane);
    return new PendingResult(id);
  };

const refused = (why: string): ToolRefused => new ToolRefused(`agents.delegate: ${why}`);

const subAgent = async (
  deps: DelegateDeps,
  of: { parent: AgentRow; order: Delegation; context: ToolContext },
): Promise<SpawnRequest> => {
  const { parent, order, context } = of;
  const expert =
    order.expert === undefined ? undefined : await findExpert(deps, parent, order.expert);
  const { persona, ...begins } = modelAndExpert(deps, parent, { expert, model: order.model });
  return {
    userId: parent.user_id,
    prompt: buildSubAgentPrompt(parent, order),
    ...begins,
    // A sub-agent of an orchestrated agent has all tools (spec: orchestrated). Otherwise an expert
    // restricts them.
    ...(persona && { persona: parent.orchestrated === 1 ? { ...persona, tools: null } : persona }),
    channel: 'agent',
    untrusted: parent.untrusted === 1,
    hops: parent.hops,
    memory: parent.memory === 1,
    parentId: parent.id,
    place: {
      rootId: parent.root_id ?? parent.id,
      depth: parent.depth + 1,
      effectId: context.effectId,
      parentMs: parent.active_ms,
    },
    ...(parent.hook_id !== null && { hookId: parent.hook_id }),
    ...(parent.tools !== null && { tools: JSON.parse(parent.tools) }),
    limits: remainingLimits(parent, order.limits ?? {}),
    lane: parent.lane,
  };
};

/**
 * An untrusted parent may pass on what it has read. Its sub-agents therefore use only models that
 * it could use itself, and the topic and model of an expert are ignored.
 */
const modelAndExpert = (
  { models }: DelegateDeps,
  parent: AgentRow,
  { expert, model }: { expert: Expert | undefined; model: string | undefined },
): ReturnType<typeof modelAndPersona> => {
  const topic = parent.topic ?? undefined;
  const userId = parent.user_id;
  if (model !== undefined && !models.has(userId, model)) {
    throw refused(`unknown model ${model}. Available models: ${models.names(userId).join(', ')}`);
  }
  if (parent.untrusted === 0) {
    return modelAndPersona(models, { userId, expert, model, topic, otherwise: parent.model });
  }
  const within = models.within({
    ...{ userId, model: parent.model, topic: parent.topic },
    isUntrusted: true,
  });
  if (model !== undefined && !within.includes(model)) {
    throw refused(
      `you have read untrusted content and cannot use the model ${model}. Available models: ${within.join(', ')}`,
    );
  }
  const plain = expert && { ...expert, topic: null };
  return modelAndPersona(models, { userId, expert: plain, model: model ?? parent.model, topic });
};

const findExpert = async (
  { experts }: DelegateDeps,
  { user_id }: AgentRow,
  name: string,
): Promise<Expert> => {
  const all = await experts.list(user_id);
  const wanted = name.trim().toLowerCase();
  const expert = all.find(({ id, name }) => name === wanted || id === wanted);
  if (expert) return expert;
  throw refused(`unknown expert. Available experts: ${all.map(({ name }) => name).join(', ')}`);
};

const buildSubAgentPrompt = (parent: AgentRow, { prompt, withTask }: Delegation): string =>
  [...(prompt === undefined ? [] : [prompt]), ...(withTask ? [parent.prompt] : [])].join('\n\n');

/** The limits are at most the remaining limits of the parent, with one level of depth less. */
const remainingLimits = (
  parent: AgentRow,
  requested: NonNullable<Delegation['limits']>,
): AgentLimits => {
  const limits: AgentLimits = JSON.parse(parent.limits);
  const used = parent.input_tokens + parent.output_tokens;
  const rest = {
    maxSteps: limits.maxSteps - parent.steps,
    maxSeconds: Math.floor(limits.maxSeconds - parent.active_ms / 1000),
    maxTokens: limits.maxTokens - used,
    maxCostUsd: Math.max(0, limits.maxCostUsd - parent.cost_usd),
    maxAnswerTokens: limits.maxAnswerTokens,
  };
  const spent = (['maxSteps', 'maxSeconds', 'maxTokens'] as const).find((of) => rest[of] < 1);
  if (spent) throw refused(`your limit ${spent} is used up`);
  if (limits.maxDepth < 1) throw refused('the maximum depth of sub-agents is reached');
  const atMost = (of: keyof typeof rest): number => Math.min(rest[of], requested[of] ?? rest[of]);
  return {
    maxSteps: atMost('maxSteps'),
    maxSeconds: atMost('maxSeconds'),
    maxTokens: atMost('maxTokens'),
    maxCostUsd: atMost('maxCostUsd'),
    maxAnswerTokens: atMost('maxAnswerTokens'),
    maxDepth: limits.maxDepth - 1,
    maxAgents: limits.maxAgents,
  };
};

/** Holds while the parent runs and its tree has room for one more agent. Throws Unmet otherwise. */
const assertRoom = ({ db }: Store, parent: AgentRow): Statement => {
  const rootId = parent.root_id ?? parent.id;
  const hasRoom = sql<boolean>`(SELECT count(*) FROM agents WHERE root_id = ${rootId})
    < (SELECT limits ->> 'maxAgents' FROM agents WHERE id = ${rootId})`;
  const growing = db
    .selectFrom('agents')
    .select('id')
    .where('id', '=', parent.id)
    .where('status', '=', 'running')
    .where(hasRoom);
  return assertRows(growing, 1);
};

const refusalReason = async ({ rows }: DelegateDeps, parent: AgentRow): Promise<string> => {
  const now = await rows.byId(parent.id);
  if (now?.status !== 'running')
    return `not started, because this agent is ${now?.status ?? 'removed'}`;
  const root = parent.root_id === null ? now : await rows.byId(parent.root_id);
  const { maxAgents }: Partial<AgentLimits> = JSON.parse(root?.limits ?? '{}');
  return `the limit of ${maxAgents} sub-agents for the whole task is reached`;
};
