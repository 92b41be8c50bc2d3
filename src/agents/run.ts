import type { Grants } from '../approvals/module.js';
import type { Experts } from '../experts/module.js';
import { removeJobOfAgent } from '../jobs/module.js';
import type { Log } from '../kernel/log.js';
import type { EffectivePermissions } from '../permissions/module.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import { isCommitted, unmetStep } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { EndingDeps } from './end.js';
import type { Models } from './models.js';
import { type AgentRecord, createRecord } from './record.js';
import { assertUnfinished, callEffectId, findSubAgents } from './subagents.js';
import type { Toolset } from './toolset.js';

export interface LoopDeps extends EndingDeps {
  access: AgentAccess;
  log: Log;
}

/** Returns the memories that match the last message, one line each. */
export type Recall = (userId: string, lastMessage: string) => Promise<string[]>;

export interface AgentAccess {
  models: Models;
  experts: Experts;
  /** Standing approvals. */
  grants: Pick<Grants, 'covering' | 'use'>;
  recall: Recall;
  toolsOf(agent: AgentRow, permissions: EffectivePermissions): Promise<Toolset>;
  folderOf(agent: AgentRow): Promise<string>;
  /** Default daily cost limit for all agents of a user. */
  dailyCostUsd: number;
}

/** One period of work: from the claim of the job to its end, a pause or a stop. */
export interface AgentRun {
  agent: AgentRow;
  signal: AbortSignal;
  /** Total working time of the agent in milliseconds, including this run. */
  activeMs(): number;
}

/**
 * The agent has ended (`finished`), waits for its owner or sub-agents (`waiting`), continues
 * (`again`), or was paused, stopped or deleted (`gone`).
 */
export type LoopOutcome = 'finished' | 'waiting' | 'again' | 'gone';
export type Interruption = 'waiting' | 'gone';

/** The first statement is the reason to wait. If it no longer holds, the agent continues. */
export const commitWaiting = async (record: AgentRecord): Promise<'again' | Interruption> => {
  const unmet = await unmetStep(record.commit());
  if (unmet === null) return 'waiting';
  return unmet === 0 ? 'again' : 'gone';
};

/** The cost counts even if the agent is gone. */
export const commitWithCost = async (
  { store }: LoopDeps,
  record: AgentRecord,
  cost: Statement[],
): Promise<'again' | 'gone'> => {
  if (await isCommitted(record.add(...cost).commit())) return 'again';
  await store.transact(cost);
  return 'gone';
};

/**
 * The agent stays `running` without a job, so that its place in the queue is free for the
 * sub-agents.
 */

export const waitForAgents = async (
  deps: LoopDeps,
  { agent, activeMs }: AgentRun,
  calls: ToolCall[],
): Promise<'again' | Interruption> => {
  const subs = await findSubAgents(deps, agent.id, calls);
  const effects = calls.map(({ id }) => callEffectId(agent.id, id));
  const record = createRecord(deps, agent)
    .add(assertUnfinished(deps.store, effects))
    .only(['running'], { active_ms: activeMs() })
    .event('agent.status', {
      status: 'running',
      waitingFor: [...subs.values()].map(({ id, name, role }) => ({ id, name, role })),
    })
    .add(removeJobOfAgent(agent.id));
  return commitWaiting(record);
};
