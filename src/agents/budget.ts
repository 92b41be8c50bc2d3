import { setTimeout as wait } from 'node:timers/promises';
import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { ModelUsage } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import { type CallRequest, dayCaps } from './procedures/caps.js';
import type { CallGrant } from './procedures/reserve.js';
import { type DayCaps, releaseCall, settleCall } from './procedures/spending.js';
import { CapReached } from './run.js';

/** A model, and the most that a call of it may use. */
export type Quote = Pick<CallRequest, 'model' | 'price' | 'inputTokens' | 'outputTokens'>;

/** A call that may be made, with the budget reserved for it. */
export interface ReservedBudget extends Quote {
  id: string;
  step: number;
}

/** The fewest tokens of a reply for which it is worth asking. */
const MIN_TOKENS = 256;
/**
 * Ours: the time in milliseconds for which room for a full reply is awaited; after that a shorter
 * one is accepted.
 */
const WHOLE_MS = 5_000;
const MAX_WAIT_MS = 60_000;
const LOOK_MS = 200;
/** The maximum number of tokens that is counted, because an endpoint may report any number. */
const MAX_TOKENS = 1e12;
/** The maximum cost of a call that is counted, in USD, for the same reason. */
const MAX_USD = 1e6;

interface BudgetDeps {
  store: Store;
  clock: Clock;
  access: { dailyCostUsd: number };
}

/** The agent that calls models, or what calls them on behalf of a user without one. */
export interface Spender {
  agent: { id: string; user_id: string; hook_id: string | null };
  /** True: it is no agent, so that only the day of its user is charged. */
  isNoAgent?: true;
  signal: AbortSignal;
}

/** Opens the budget for the calls of one step. */
export const openBudget = (deps: BudgetDeps, { agent, isNoAgent, signal }: Spender) => {
  const { store, clock } = deps;
  let isStep = true;

  const request = (id: string, quote: Quote): CallRequest => {
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
     * Reserves the budget of a call; the first one that is granted counts as the step. Waits if only
     * calls under way use up the rest of a limit. Returns null if a limit forbids a further call of
     * the step, and `gone` if the agent no longer runs. Errors: CapReached if a limit forbids the
     * first call; the reason of the run's signal.
     */
    reserve: async (quote: Quote): Promise<ReservedBudget | 'gone' | null> => {
      const id = mint('usage', clock.now());
      const grant = await granted(deps, signal, () => request(id, quote));
      if (grant.is === 'gone') return 'gone';
      if (grant.is !== 'granted') {
        if (!isStep) return null;
        throw new CapReached(reasonOf(grant));
      }
      isStep = false;
      return { ...quote, ...grant, id };
    },
    /** Settles a call that brought no reply with its usage, or with nothing if none is given. */
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

/** Asks again until the reason is no longer that calls under way use up the limit. */
const granted = async (
  { store }: BudgetDeps,
  signal: AbortSignal,
  request: () => CallRequest,
): Promise<CallGrant> => {
  const since = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const waitedMs = performance.now() - since;
    const grant = await store.call('reserveCall', {
      ...request(),
      takesLess: waitedMs >= WHOLE_MS,
    });
    if (grant.is !== 'held' || waitedMs >= MAX_WAIT_MS) return grant;
    await wait(LOOK_MS, undefined, { signal });
  }
};

const reasonOf = (grant: Exclude<CallGrant, { is: 'granted' }>): string => {
  if (grant.is !== 'full') return 'other running calls have reserved the rest of a limit';
  const { on, of, most } = grant;
  if (on === 'above') return 'a limit of the parent agent is reached';
  const limit = `${Math.round(most * 1e6) / 1e6} ${UNITS[of]}`;
  if (on === 'agent') return `limit of ${limit} reached`;
  const whose = on === 'user' ? 'the limit' : "its hook's limit";
  return `${whose} of ${limit} a day is reached`;
};

const UNITS = { steps: 'steps', tokens: 'tokens', cost: 'USD' };

/** Builds the statements that replace the reserved budget of a call with its usage. */
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

/**
 * Counts the calls that were under way when the daemon ended by all that was reserved for them,
 * before any other begins.
 */
export const settleLeftover = async ({ store, clock }: { store: Store; clock: Clock }) => {
  const left = await store.db
    .selectFrom('reservations')
    .select(['id', 'input_tokens as inputTokens', 'output_tokens as outputTokens'])
    .select('cost_usd as costUsd')
    .execute();
  const at = iso(clock.now());
  for (const row of left) await store.transact(settleCall({ ...row, latencyMs: 0, at }));
};

/**
 * Creates the function that reads the daily caps of all agents of a user: those that an admin set,
 * otherwise those of the settings.
 */
export const dailyCapsOf =
  ({ db }: Pick<Store, 'db'>, { dailyCostUsd }: { dailyCostUsd: number }) =>
  async (userId: string): Promise<DayCaps> => {
    const user = db.selectFrom('users').select('limits').where('id', '=', userId);
    return dayCaps({ dailyCostUsd }, (await user.executeTakeFirst())?.limits);
  };
