import { iso } from '../kernel/clock.js';
import { type EffectivePermissions, effectivePermissions } from '../permissions/module.js';
import type { AgentRow, AgentSnapshot, TranscriptMessageRow } from '../store/tables/agents.js';
import type { AgentRun, LoopDeps } from './run.js';

export interface AgentFacts {
  /** The row at the start of the run if the agent was deleted. */
  now: AgentRow;
  permissions: EffectivePermissions;
}

export interface StepFacts extends AgentFacts {
  messages: TranscriptMessageRow[];
  /** Whether the agent may use memories and its owner has some. */
  hasMemories: boolean;
  timezone: string;
}

export const readFacts = (deps: LoopDeps, run: AgentRun): Promise<AgentFacts> =>
  read(deps, run, null);

/** Read again for each step, so that a change takes effect immediately. */
export const readStepFacts = (deps: LoopDeps, run: AgentRun): Promise<StepFacts> =>
  read(deps, run, run.agent.session_id);

const read = async (
  { store, clock }: LoopDeps,
  { agent }: AgentRun,
  sessionId: string | null,
): Promise<StepFacts> => {
  const { id: agentId, user_id: userId } = agent;
  const wanted = { agentId, userId, sessionId, now: iso(clock.now()) };
  return factsFromSnapshot(agent, await store.look('agentSnapshot', wanted));
};

export const factsFromSnapshot = (
  agent: AgentRow,
  { agent: now, levels, owner, messages, hasMemories, timezone }: AgentSnapshot,
): StepFacts => ({
  now: now ?? agent,
  permissions: effectivePermissions(levels, owner),
  messages,
  hasMemories,
  timezone,
});
