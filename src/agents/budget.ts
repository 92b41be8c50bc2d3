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

/** A model, and what a call of it may come to at most. */
export interface Quote {
  model: string;
  /** Left out where it costs nothing. */
  price?: Price | null;
  /** Tokens. */
  inputTokens: number;
  outputTokens: number;
}

/** A call that may be made: what was set aside for it. */
export interface ReservedBudget {
  id: string;
  step: number;
  inputTokens: number;
  /** Tokens that the answer may take. */
  outputTokens: number;
  price: Price | null;
}

/** What the calls of one step may still come to. */
export interface StepBudget {
  /**
   * Sets aside what a call may come to; the first that is granted counts as the step. Waits where only
   * calls that are under way hold the room. Null where a cap forbids a further call of the step.
   * Errors: CapReached where it forbids the first; Gone; the reason of the run's signal.
   */
  reserve(quote: Quote): Promise<ReservedBudget | null>;
  /** A call that brought no answer came to this; to nothing unless given. */
  close(reserved: ReservedBudget, usage: ModelUsage | undefined, latencyMs: number): Promise<void>;
}

/** An answer that may take fewer tokens is not worth its question. */
const FEWEST_TOKENS = 256;
/** Ours: a whole answer is worth waiting so long for; then a shorter one is taken. */
const WHOLE_MS = 5_000;
const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 200;
/** An endpoint may report any number. */
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

/** Asks until there is an answer other than that calls under way hold the room. */
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

/** What a call came to, in the place of what was set aside for it. */
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
