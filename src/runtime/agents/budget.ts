import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import { type Statement, Unmet } from '../../store/protocol.js';
import {
  type Charge,
  recordCall,
  reserveMore,
  reserveStep,
  type StepReservation,
  settleStep,
} from '../../store/spending.js';
import { unlessUnmet } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { AgentLimits } from './agent.js';
import type { Answered } from './models.js';
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
  const of = { userId: agent.user_id, hookId: agent.hook_id };
  const reservation = {
    ...{ ...of, agentId: agent.id, depth: agent.depth },
    day: iso(deps.clock.now()).slice(0, 10),
    ...(await deps.allowancesOf(of)),
    ...{ maxSteps, maxTokens, maxCostUsd },
    ...expected,
  };
  const charges = reserveStep(reservation);
  try {
    const [counted] = await deps.store.transact(charges);
    return { ...reservation, step: stepOf(counted?.rows[0]) };
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    throw await whyNot(deps, reservation, charges[error.at]);
  }
};

const stepOf = (row: unknown): number =>
  typeof row === 'object' && row !== null && 'steps' in row ? Number(row.steps) : 0;

const whyNot = async (
  deps: LoopDeps,
  reservation: StepReservation,
  charge: Charge | undefined,
): Promise<Error> => {
  if (charge?.on === 'above') {
    return new CapReached('a limit of the agent that gave it its task is reached');
  }
  return charge?.on === 'user' || charge?.on === 'hook'
    ? dayIsSpent(deps, reservation, charge.on)
    : agentIsSpent(deps, reservation);
};

const agentIsSpent = async (deps: LoopDeps, reservation: StepReservation): Promise<Error> => {
  const { agentId, maxSteps, maxTokens, maxCostUsd } = reservation;
  const agent = await deps.rows.byId(agentId);
  if (agent?.status !== 'running') return new Gone();
  if (agent.steps >= maxSteps) return new CapReached(`limit of ${maxSteps} steps reached`);
  if (agent.input_tokens + agent.output_tokens >= maxTokens) {
    return new CapReached(`limit of ${maxTokens} tokens reached`);
  }
  return new CapReached(`limit of ${maxCostUsd} USD reached`);
};

const dayIsSpent = async (
  { store: { db } }: LoopDeps,
  { day, tokens, userId, hookId, ofUser, ofHook }: StepReservation,
  on: 'user' | 'hook',
): Promise<CapReached> => {
  const ofDay = ['tokens', 'steps'] as const;
  const users = db.selectFrom('daily_usage').select(ofDay).where('user_id', '=', userId);
  const hooks = db
    .selectFrom('hook_usage')
    .select(ofDay)
    .where('hook_id', '=', hookId ?? '');
  const used =
    on === 'user'
      ? await users.where('day', '=', day).executeTakeFirst()
      : await hooks.where('day', '=', day).executeTakeFirst();
  const { dailySteps, dailyTokens, dailyCostUsd } = on === 'user' ? ofUser : ofHook;
  const isOf = (cap: number | null, most: number): boolean => cap !== null && most > cap;
  const limit = isOf(dailySteps, (used?.steps ?? 0) + 1)
    ? `${dailySteps} steps`
    : isOf(dailyTokens, (used?.tokens ?? 0) + tokens)
      ? `${dailyTokens} tokens`
      : `${dailyCostUsd} USD`;
  const whose = on === 'user' ? 'the limit' : "its hook's limit";
  return new CapReached(`${whose} of ${limit} a day is reached`);
};

/** Sets aside as much as a dearer model may cost; false where a cap forbids it. */
export const raise = async (
  { store }: LoopDeps,
  reserved: Reserved,
  costUsd: number,
): Promise<boolean> => {
  if (costUsd <= reserved.costUsd) return true;
  const more = reserveMore({ ...reserved, costUsd: costUsd - reserved.costUsd });
  if (!(await unlessUnmet(store.transact(more)))) return false;
  reserved.costUsd = costUsd;
  return true;
};

/**
 * The real cost in place of what was set aside, and the call for the account of what models cost.
 * A reservation that is never settled stays counted.
 */
export const settle = (
  { clock }: Pick<LoopDeps, 'clock'>,
  reserved: Reserved,
  { reply, model, latencyMs }: Answered,
): Statement[] => {
  const { agentId, depth, userId, day, hookId } = reserved;
  const inputTokens = Math.min(reply.usage.inputTokens, MOST_TOKENS);
  const outputTokens = Math.min(reply.usage.outputTokens, MOST_TOKENS);
  const { costUsd } = reply.usage;
  const called = recordCall({
    id: mint('usage', clock.now()),
    user_id: userId,
    agent_id: agentId,
    hook_id: hookId,
    model,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
    latency_ms: latencyMs,
    at: iso(clock.now()),
  });
  const settled = settleStep({
    ...{ agentId, depth, userId, hookId, day, outputTokens },
    inputTokens: inputTokens - reserved.tokens,
    costUsd: (costUsd ?? 0) - reserved.costUsd,
  });
  return [...settled, called];
};
