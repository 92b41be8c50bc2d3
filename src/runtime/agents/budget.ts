import { iso } from '../../kernel/clock.js';
import type { Usage } from '../../providers/llm/model.js';
import { type Statement, Unmet } from '../../store/protocol.js';
import { reserveStep, type StepReservation, settleStep } from '../../store/spending.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { AgentLimits } from './agent.js';
import { CapReached, Gone, type LoopDeps } from './run.js';

/** A step that may be asked for: its number, and what was set aside for it. */
export interface Reserved extends StepReservation {
  step: number;
}

/** An endpoint may report any number. */
const MOST_TOKENS = 1e12;

/** Sets aside what the next step is expected to cost, in the transaction that checks every cap. */
export const reserve = async (
  deps: LoopDeps,
  agent: AgentRow,
  expected: { tokens: number; costUsd: number },
): Promise<Reserved> => {
  const { maxSteps, maxTokens, maxCostUsd }: AgentLimits = JSON.parse(agent.limits);
  const reservation = {
    agentId: agent.id,
    userId: agent.user_id,
    day: iso(deps.clock.now()).slice(0, 10),
    dailyCostUsd: deps.dailyCostUsd,
    ...{ maxSteps, maxTokens, maxCostUsd },
    ...expected,
  };
  try {
    const [counted] = await deps.store.transact(reserveStep(reservation));
    return { ...reservation, step: stepOf(counted?.rows[0]) };
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    throw error.at === 0 ? await whyNot(deps, reservation) : dayIsSpent(deps);
  }
};

const stepOf = (row: unknown): number =>
  typeof row === 'object' && row !== null && 'steps' in row ? Number(row.steps) : 0;

const dayIsSpent = ({ dailyCostUsd }: LoopDeps): CapReached =>
  new CapReached(`the limit of ${dailyCostUsd} USD a day is reached`);

const whyNot = async (deps: LoopDeps, reservation: StepReservation): Promise<Error> => {
  const { agentId, maxSteps, maxTokens, maxCostUsd } = reservation;
  const agent = await deps.rows.byId(agentId);
  if (agent?.status !== 'running') return new Gone();
  if (agent.steps >= maxSteps) return new CapReached(`limit of ${maxSteps} steps reached`);
  if (agent.input_tokens + agent.output_tokens >= maxTokens) {
    return new CapReached(`limit of ${maxTokens} tokens reached`);
  }
  return new CapReached(`limit of ${maxCostUsd} USD reached`);
};

/** The real cost in place of what was set aside. A reservation that is never settled stays counted. */
export const settle = (reserved: Reserved, usage: Usage): Statement[] =>
  settleStep({
    agentId: reserved.agentId,
    userId: reserved.userId,
    day: reserved.day,
    inputTokens: Math.min(usage.inputTokens, MOST_TOKENS) - reserved.tokens,
    outputTokens: Math.min(usage.outputTokens, MOST_TOKENS),
    costUsd: (usage.costUsd ?? 0) - reserved.costUsd,
  });
