import { setTimeout as wait } from 'node:timers/promises';
import { iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import type { ModelUsage, Price } from '../providers/llm/model.js';
import type { Statement } from '../store/engine/protocol.js';
import type { AgentLimits } from './agent.js';
import type { Allowances } from './allowance.js';
import type { CallRequest } from './procedures/caps.js';
import { asReserved, type CallGrant } from './procedures/reserve.js';
import { releaseCall, settleCall } from './procedures/spending.js';
import { AgentGone, type AgentRun, CapReached, type LoopDeps } from './run.js';

/** A model, and the most that a call of it may use. */
export interface Quote {
  model: string;
  /** Left out if the model costs nothing. */
  price?: Price | null;
  /** Tokens. */
  inputTokens: number;
  outputTokens: number;
}

/** A call that may be made, with the budget reserved for it. */
export interface ReservedBudget {
  id: string;
  step: number;
  inputTokens: number;
  /** The tokens that the reply may take. */
  outputTokens: number;
  price: Price | null;
}

/** The budget for the calls of one step. */
export interface StepBudget {
  /**
   * Reserves the budget of a call; the first one that is granted counts as the step. Waits if only
   * calls under way use up the rest of a limit. Returns null if a limit forbids a further call of
   * the step. Errors: CapReached if it forbids the first one; AgentGone; the reason of the run's
   * signal.
   */
  reserve(quote: Quote): Promise<ReservedBudget | null>;
  /** Settles a call that brought no reply with its usage, or with nothing if none is given. */
  close(reserved: ReservedBudget, usage: ModelUsage | undefined, latencyMs: number): Promise<void>;
}

/** The fewest tokens of a reply for which it is worth asking. */
const FEWEST_TOKENS = 256;
/**
 * Ours: the time in milliseconds for which room for a full reply is awaited; after that a shorter
 * one is accepted.
 */
const WHOLE_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 200;
/** The maximum number of tokens that is counted, because an endpoint may report any number. */
const MOST_TOKENS = 1e12;

export const openBudget = (deps: LoopDeps, { agent, signal }: AgentRun): StepBudget => {
  const { store, clock } = deps;
  let isStep = true;

  const request = async (id: string, quote: Quote): Promise<CallRequest> => {
    const { user_id: userId, hook_id: hookId } = agent;
    const at = iso(clock.now());
    const { model, price = null, inputTokens, outputTokens } = quote;
    return {
      ...{ id, agentId: agent.id, userId, hookId, at, day: at.slice(0, 10), isStep },
      ...{ model, price, inputTokens, outputTokens, takesLess: false },
      fewestTokens: Math.min(FEWEST_TOKENS, outputTokens),
      ...(await deps.allowancesOf({ userId, hookId })),
    };
  };

  return {
    reserve: async (quote) => {
      const id = mint('usage', clock.now());
      const asked = await request(id, quote);
      const grant = await granted(deps, signal, () => request(id, quote));
      if (grant.is === 'gone') throw new AgentGone();
      if (grant.is !== 'granted') {
        if (!isStep) return null;
        throw new CapReached(reasonOf(grant, JSON.parse(agent.limits), asked));
      }
      isStep = false;
      const { step, outputTokens } = grant;
      return { id, step, inputTokens: quote.inputTokens, outputTokens, price: asked.price };
    },
    close: async (reserved, usage, latencyMs) => {
      const came = usage
        ? settleReserved(deps, reserved, { usage, latencyMs })
        : [releaseCall(reserved.id)];
      await store.transact(came);
    },
  };
};

/** Asks again until the reason is no longer that calls under way use up the limit. */
const granted = async (
  { store }: LoopDeps,
  signal: AbortSignal,
  request: () => Promise<CallRequest>,
): Promise<CallGrant> => {
  const since = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const waitedMs = performance.now() - since;
    const grant = await store.call('reserveCall', {
      ...(await request()),
      takesLess: waitedMs >= WHOLE_MS,
    });
    if (grant.is !== 'held' || waitedMs >= LONGEST_WAIT_MS) return grant;
    await wait(LOOK_MS, undefined, { signal });
  }
};

const reasonOf = (
  grant: Exclude<CallGrant, { is: 'granted' }>,
  limits: AgentLimits,
  { ofUser, ofHook }: Allowances,
): string => {
  if (grant.is !== 'full') return 'calls of other agents hold what is left of a limit';
  const { on, of } = grant;
  if (on === 'above') return 'a limit of the agent that gave it its task is reached';
  const { maxSteps, maxTokens, maxCostUsd } = limits;
  if (on === 'agent') {
    const ofAgent = { steps: maxSteps, tokens: maxTokens, cost: maxCostUsd };
    return `limit of ${ofAgent[of]} ${UNITS[of]} reached`;
  }
  const { dailySteps, dailyTokens, dailyCostUsd } = on === 'user' ? ofUser : ofHook;
  const ofDay = { steps: dailySteps, tokens: dailyTokens, cost: dailyCostUsd };
  const whose = on === 'user' ? 'the limit' : "its hook's limit";
  return `${whose} of ${ofDay[of]} ${UNITS[of]} a day is reached`;
};

const UNITS = { steps: 'steps', tokens: 'tokens', cost: 'USD' };

/** Builds the statements that replace the reserved budget of a call with its usage. */
export const settleReserved = (
  { clock }: Pick<LoopDeps, 'clock'>,
  { id }: ReservedBudget,
  { usage, latencyMs }: { usage: ModelUsage; latencyMs: number },
): Statement[] =>
  settleCall({
    id,
    inputTokens: Math.min(usage.inputTokens, MOST_TOKENS),
    outputTokens: Math.min(usage.outputTokens, MOST_TOKENS),
    costUsd: usage.costUsd,
    latencyMs,
    at: iso(clock.now()),
  });

/** Counts the calls that were under way when the daemon ended, before any other begins. */
export const settleLeft = async ({ store, clock }: Pick<LoopDeps, 'store' | 'clock'>) => {
  const left = await store.db
    .selectFrom('reservations')
    .select(['id', 'input_tokens', 'output_tokens', 'cost_usd'])
    .execute();
  const at = iso(clock.now());
  for (const row of left) await store.transact(settleCall(asReserved(row, at)));
};
