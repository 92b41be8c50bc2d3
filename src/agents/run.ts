import type { Grants } from '../approvals/module.js';
import type { Experts } from '../experts/module.js';
import type { Log } from '../kernel/log.js';
import type { EffectivePermissions } from '../permissions/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { unlessUnmet, unmetStep } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { EndingDeps } from './end.js';
import type { Models } from './models.js';
import type { AgentRecord } from './record.js';
import type { Toolset } from './toolset.js';

export interface LoopDeps extends EndingDeps {
  access: AgentAccess;
  log: Log;
}

/**
 * Returns what the owner wants to be remembered and fits what was said last, one line each.
 */
export type Recall = (userId: string, said: string) => Promise<string[]>;

/** The models, tools and limits of agents. */
export interface AgentAccess {
  models: Models;
  experts: Experts;
  /** The approvals that stand for later calls. */
  grants: Pick<Grants, 'covering' | 'use'>;
  recall: Recall;
  toolsOf(agent: AgentRow, permissions: EffectivePermissions): Promise<Toolset>;
  /** Returns the working folder of an agent. */
  folderOf(agent: AgentRow): Promise<string>;
  /** The daily limit of the cost of all agents of a user, unless an admin has set another. */
  dailyCostUsd: number;
}

/** One stretch of an agent's work, from a claim of its job to its end, a pause or a stop. */
export interface AgentRun {
  /** The agent as it was when the run began. */
  agent: AgentRow;
  signal: AbortSignal;
  /** Returns the milliseconds that the agent has worked in total, this run included. */
  activeMs(): number;
}

/**
 * The result of a step, which is recorded already. The agent has ended (`finished`), waits for its
 * owner or for sub-agents (`waiting`), goes on (`again`), or was paused, stopped or removed
 * meanwhile (`gone`).
 */
export type LoopOutcome = 'finished' | 'waiting' | 'again' | 'gone';
/** The outcomes after which the run ends although the agent has not. */
export type Interruption = 'waiting' | 'gone';

/** Thrown if the agent may not go on; the message is its error. */
export class CapReached extends Error {}

/**
 * Commits a record with which the agent begins to wait. Its first statement is the reason to wait;
 * if that no longer holds, the agent goes on.
 */
export const commitWaiting = async (record: AgentRecord): Promise<'again' | Interruption> => {
  const unmet = await unmetStep(record.commit());
  if (unmet === null) return 'waiting';
  return unmet === 0 ? 'again' : 'gone';
};

/** Commits a record with the cost of a reply, which counts even if the agent is gone. */
export const commitWithCost = async (
  { store }: LoopDeps,
  record: AgentRecord,
  cost: Statement[],
): Promise<'again' | 'gone'> => {
  if (await unlessUnmet(record.add(...cost).commit())) return 'again';
  await store.transact(cost);
  return 'gone';
};
