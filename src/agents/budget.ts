import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { ModelUsage } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import { type CallRequest, dayCaps } from './procedures/caps.js';
import type { CallGrant } from './procedures/reserve.js';
import { type DayCaps, releaseCall, settleCall } from './procedures/spending.js';

export type CostEstimate = Pick<CallRequest, 'model' | 'price' | 'inputTokens' | 'outputTokens'>;

export interface ReservedBudget extends CostEstimate {
  id: string;
  step: number;
}

/** Minimum size of a reply that is worth a call, in tokens. */
const MIN_TOKENS = 256;
/** Time to wait for room for a full reply. After that, a shorter one is accepted. */
const WHOLE_MS = 5_000;
const MAX_WAIT_MS = 60_000;
const LOOK_MS = 200;
/** Upper bound, because an endpoint may report any number. */
const MAX_TOKENS = 1e12;
/** Upper bound in USD, for the same reason. */
const MAX_USD = 1e6;

interface BudgetDeps {
  store: Store;
  clock: Clock;
  access: { dailyCostUsd: number };
}

/** The agent that calls models, or the ID of an operation that does so for a user. */
export interface Spender {
  agent: { id: string; user_id: string; hook_id: string | null };
  /** Without an agent, only the daily limits of the user are charged. */
  isNoAgent?: true;
  signal: AbortSignal;
}

export const openBudget = (deps: BudgetDeps, { agent, isNoAgent, signal }: Spender) => {
  const { store, clock } = deps;
  let isStep = true;

  const request = (id: string, quote: CostEstimate): CallRequest => {
    const { user_id: userId, hook_id: hookId } = agent;
    const at = iso(clock.now());
    return {
      ...quote,
      id,
      agentId: agent.id,
      isOfAgent: isNoAgent !== true,
      userId,
      hookId,
      at,
      day: at.slice(0, 10),
      isStep,
      takesLess: false,
      fewestTokens: Math.min(MIN_TOKENS, quote.outputTokens),
      dailyCostUsd: deps.access.dailyCostUsd,
    };
  };

  return {
    /**
     * The first granted call counts as the step. Waits while only running calls use up a limit.
     * Returns null if a limit forbids another call of the step, and `gone` if the agent no longer
     * runs. Throws LimitReached if a limit forbids the first call, or the abort reason.
     */
    reserve: async (quote: CostEstimate): Promise<ReservedBudget | 'gone' | null> => {
      const id = mint('usage', clock.now());
      const grant = await awaitGrant(deps, signal, () => request(id, quote));
      if (grant.is === 'gone') return 'gone';
      if (grant.is !== 'granted') {
        if (!isStep) return null;
        throw new LimitReached(formatDenialReason(grant));
      }
      isStep = false;
      return { ...quote, ...grant, id };
    },
    close: async (
      reserved: ReservedBudget,
      usage: ModelUsage | undefined,
      latencyMs: number,
    ): Promise<void> => {
      const charge = usage
        ? settleReserved(deps, reserved, { usage, latencyMs })
        : [releaseCall(reserved.id)];
      await store.transact(charge);
    },
  };
};

export type StepBudget = ReturnType<typeof openBudget>;

/** Retries until the limit is no longer used up by running calls alone. */
const awaitGrant = async (
  { store, clock }: BudgetDeps,
  signal: AbortSignal,
  request: () => CallRequest,
): Promise<CallGrant> => {
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    signal.throwIfAborted();
    const grant = await store.call('reserveCall', {
      ...request(),
      takesLess: waitedMs >= WHOLE_MS,
    });
    if (grant.is !== 'held' || waitedMs >= MAX_WAIT_MS) return grant;
    await clock.wait(LOOK_MS, signal);
  }
};

const formatDenialReason = (grant: Exclude<CallGrant, { is: 'granted' }>): string => {
  if (grant.is !== 'full') return 'other running calls have reserved the rest of a limit';
  const { on, of, most } = grant;
  if (on === 'above') return 'a limit of the parent agent is reached';
  const limit = `${Math.round(most * 1e6) / 1e6} ${UNITS[of]}`;
  if (on === 'agent') return `limit of ${limit} reached`;
  return `${WHOSE[on]} of ${limit} is reached`;
};

const WHOSE = {
  user: 'the daily limit',
  month: 'the monthly limit',
  member: 'the daily limit per member',
  hook: 'the daily hook limit',
};

const UNITS = { steps: 'steps', tokens: 'tokens', cost: 'USD' };

export const settleReserved = (
  { clock }: { clock: Clock },
  { id }: ReservedBudget,
  { usage, latencyMs }: { usage: ModelUsage; latencyMs: number },
): Statement[] =>
  settleCall({
    id,
    inputTokens: Math.min(usage.inputTokens, MAX_TOKENS),
    outputTokens: Math.min(usage.outputTokens, MAX_TOKENS),
    costUsd: usage.costUsd === null ? null : countedCost(usage.costUsd),
    latencyMs,
    at: iso(clock.now()),
  });

const countedCost = (usd: number): number => (usd >= 0 && usd < MAX_USD ? usd : MAX_USD);

/** Calls that ran when the daemon was killed count with everything that was reserved for them. */
export const settleLeftoverReservations = async ({
  store,
  clock,
}: {
  store: Store;
  clock: Clock;
}) => {
  const left = await store.db
    .selectFrom('reservations')
    .select(['id', 'input_tokens as inputTokens', 'output_tokens as outputTokens'])
    .select('cost_usd as costUsd')
    .execute();
  const at = iso(clock.now());
  for (const row of left) await store.transact(settleCall({ ...row, latencyMs: 0, at }));
};

export const readDailyLimits =
  ({ db }: Pick<Store, 'db'>, { dailyCostUsd }: { dailyCostUsd: number }) =>
  async (userId: string): Promise<DayCaps> => {
    const user = db.selectFrom('users').select('limits').where('id', '=', userId);
    return dayCaps({ dailyCostUsd }, (await user.executeTakeFirst())?.limits);
  };
/** The message is the error of the agent. */
export class LimitReached extends Error {}
