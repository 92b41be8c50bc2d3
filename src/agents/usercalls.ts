import type { Clock } from '../kernel/clock.js';
import { formatFailures } from '../kernel/passedover.js';
import type { ModelUsage, Turn } from '../providers/llm/model.js';
import type { Store } from '../store/store.js';
import {
  type CostEstimate,
  LimitReached,
  openBudget,
  type StepBudget,
  settleReserved,
} from './budget.js';
import type { ModelConstraints, Models } from './models.js';
import { callCost } from './procedures/caps.js';

interface UserQuestion {
  userId: string;
  /** ID under which the call is counted, such as that of an operation. */
  askedBy: string;
  /** Null for the model of the topic, or the default model. */
  model: string | null;
  topic: string;
  turns: Turn[];
  maxOutputTokens: number;
  /** In USD. Only the daily limits apply if it is omitted. */
  maxCostUsd?: number;
  wasted?(usage: ModelUsage): void;
  signal: AbortSignal;
}

interface UserAnswer {
  text: string;
  model: string;
  /** Models that failed, with their reasons. Null if there are none. */
  unanswered: string | null;
  usage: ModelUsage;
}

/** The text is untrusted, so that command-line tools are excluded. */
export interface UserCalls {
  /** Counts towards the daily limits of the user. Null if they forbid the call. */
  ask(question: UserQuestion): Promise<UserAnswer | null>;
  /** Maximum size of a prompt for the likely model, with room for a reply. */
  room(of: Pick<UserQuestion, 'userId' | 'model' | 'topic'>): number;
}

interface UserCallsDeps {
  store: Store;
  clock: Clock;
  models: Models;
  dailyCostUsd: number;
}

export const createUserCalls = ({
  store,
  clock,
  models,
  dailyCostUsd,
}: UserCallsDeps): UserCalls => {
  const constraints = ({
    userId,
    model,
    topic,
  }: Pick<UserQuestion, 'userId' | 'model' | 'topic'>): ModelConstraints => ({
    userId,
    model: model ?? models.routed(topic),
    topic,
    isUntrusted: true,
    barred: ({ provider }) =>
      provider === 'cli'
        ? 'it is a command-line tool, which must not receive untrusted content'
        : null,
  });

  const answer = async (question: UserQuestion): Promise<UserAnswer> => {
    const { userId, askedBy, turns, maxOutputTokens, signal } = question;
    const budget = openBudget(
      { store, clock, access: { dailyCostUsd } },
      { agent: { id: askedBy, user_id: userId, hook_id: null }, isNoAgent: true, signal },
    );
    const step = { turns, tools: [], maxOutputTokens, signal, isDigestEnough: true };
    const within = budgetWithin(budget, question);
    const outcome = await models.ask(constraints(question), step, within);
    if (outcome === 'gone')
      throw new Error('A call without an agent reported that its agent is gone');
    const { reply, reserved, latencyMs, model } = outcome;
    const unanswered = formatFailures(outcome.passedOver).join('; ') || null;
    await store.transact(settleReserved({ clock }, reserved, { usage: reply.usage, latencyMs }));
    return { text: reply.text, model, unanswered, usage: reply.usage };
  };

  return {
    ask: (question) =>
      answer(question).catch((error: unknown) => {
        if (error instanceof LimitReached) return null;
        throw error;
      }),
    room: (of) => models.room(constraints(of)),
  };
};

const MIN_TOKENS = 256;

/** Limits the total cost. A model whose call would exceed it is skipped. */
const budgetWithin = (
  budget: StepBudget,
  { maxCostUsd, wasted }: Pick<UserQuestion, 'maxCostUsd' | 'wasted'>,
): StepBudget => {
  let left = maxCostUsd;
  return {
    reserve: async (quote) => {
      if (left === undefined) return budget.reserve(quote);
      const outputTokens = tokensWithin(quote, left);
      const isWorthIt = outputTokens >= Math.min(MIN_TOKENS, quote.outputTokens);
      return isWorthIt ? budget.reserve({ ...quote, outputTokens }) : null;
    },
    close: async (reserved, usage, latencyMs) => {
      await budget.close(reserved, usage, latencyMs);
      if (!usage) return;
      if (left !== undefined) left -= computeUsageCost(reserved, usage);
      wasted?.(usage);
    },
  };
};

const computeUsageCost = (
  { price }: CostEstimate,
  { costUsd, inputTokens, outputTokens }: ModelUsage,
): number => costUsd ?? (price === null ? 0 : callCost(price, inputTokens, outputTokens));

const tokensWithin = (
  { price, inputTokens, outputTokens }: CostEstimate,
  mostUsd: number,
): number => {
  if (price === null) return outputTokens;
  const left = mostUsd - callCost(price, inputTokens, 0);
  if (left < 0) return -1;
  const perToken = callCost(price, 0, 1);
  return perToken === 0 ? outputTokens : Math.min(outputTokens, Math.floor(left / perToken));
};
