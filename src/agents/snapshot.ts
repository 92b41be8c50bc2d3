import { iso } from '../kernel/clock.js';
import { type EffectivePermissions, effectivePermissions } from '../permissions/module.js';
import type { AgentRow, AgentSnapshot, SaidRow } from '../store/tables/agents.js';
import type { AgentRun, LoopDeps } from './run.js';

/** The facts by which the loop decides, as they were at one moment. */
export interface AgentFacts {
  /** The agent's row; the one with which the run began if the agent was removed. */
  now: AgentRow;
  permissions: EffectivePermissions;
}

/** The facts for a step. */
export interface StepFacts extends AgentFacts {
  /** All messages of the session, oldest first. */
  messages: SaidRow[];
  /** True if it may be given memories, and its owner has some. */
  hasMemories: boolean;
  /** The time zone of its owner. */
  timezone: string;
}

/** Reads the facts for the decision on a call. */
export const readFacts = (deps: LoopDeps, run: AgentRun): Promise<AgentFacts> =>
  read(deps, run, null);

/** Reads the facts for a step. They are read anew for each, so that a change takes effect at once. */
export const readStepFacts = (deps: LoopDeps, run: AgentRun): Promise<StepFacts> =>
  read(deps, run, run.agent.session_id);

const read = async (
  { store, clock }: LoopDeps,
  { agent }: AgentRun,
  sessionId: string | null,
): Promise<StepFacts> => {
  const { id: agentId, user_id: userId } = agent;
  const wanted = { agentId, userId, sessionId, now: iso(clock.now()) };
  return factsOf(agent, await store.look('agentSnapshot', wanted));
};

/** Returns the facts in a snapshot of an agent, whose row is given as the run began with it. */
export const factsOf = (
  agent: AgentRow,
  { agent: now, levels, owner, messages, hasMemories, timezone }: AgentSnapshot,
): StepFacts => ({
  now: now ?? agent,
  permissions: effectivePermissions(levels, owner),
  messages,
  hasMemories,
  timezone,
});
