import type { Clock } from '../kernel/clock.js';
import type { ModelUsage, Turn } from '../providers/llm/model.js';
import type { Store } from '../store/store.js';
import { openBudget, type Quote, type StepBudget, settleReserved } from './budget.js';
import { type ModelConstraints, type Models, reasonsOf } from './models.js';
import { callCost } from './procedures/caps.js';
import { CapReached } from './run.js';

/** One question to a model on behalf of a user, outside any agent. */
interface UserQuestion {
  userId: string;
  /** The id of what asks, such as an operation, under which the call is counted. */
  askedBy: string;
  /** The model; that of the topic, or the default, unless given. */
  model: string | null;
  topic: string;
  turns: Turn[];
  maxOutputTokens: number;
  /** The most that the call may cost, in USD; only the limits of the day apply unless given. */
  maxCostUsd?: number;
  /** Told of the usage of each call that brought no answer. */
  wasted?(usage: ModelUsage): void;
  signal: AbortSignal;
}

/** The answer, and the name of the model that gave it: `digest` if there is no language model. */
interface UserAnswer {
  text: string;
  model: string;
  /** The models that were to answer and did not, each with its reason; null: there are none. */
  unanswered: string | null;
  usage: ModelUsage;
}

/**
 * Questions to models on behalf of a user, outside any agent. Their text is from outside, so that no
 * command-line tool is given it.
 */
export interface UserCalls {
  /**
   * Asks a model. The cost counts on the user's day as that of agents does; null if a limit of the
   * day forbids it.
   */
  ask(question: UserQuestion): Promise<UserAnswer | null>;
  /** Returns the tokens of a prompt that the likely model takes, with room for the answer. */
  room(of: Pick<UserQuestion, 'model' | 'topic'>): number;
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
    model,
    topic,
  }: Pick<UserQuestion, 'model' | 'topic'>): ModelConstraints => ({
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
    const given = await models.ask(constraints(question), step, within);
    if (given === 'gone')
      throw new Error('A call without an agent reported that its agent is gone');
    const { reply, reserved, latencyMs, model } = given;
    const unanswered = reasonsOf(given.passedOver).join('; ') || null;
    await store.transact(settleReserved({ clock }, reserved, { usage: reply.usage, latencyMs }));
    return { text: reply.text, model, unanswered, usage: reply.usage };
  };

  return {
    ask: (question) =>
      answer(question).catch((error: unknown) => {
        if (error instanceof CapReached) return null;
        throw error;
      }),
    room: (of) => models.room(constraints(of)),
  };
};

/** The fewest tokens of an answer for which it is worth asking. */
const MIN_TOKENS = 256;

/**
 * Limits the cost of all calls of a budget together. A model whose call would cost more is passed
 * over.
 */
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
      if (left !== undefined) left -= costOf(reserved, usage);
      wasted?.(usage);
    },
  };
};

const costOf = ({ price }: Quote, { costUsd, inputTokens, outputTokens }: ModelUsage): number =>
  costUsd ?? (price === null ? 0 : callCost(price, inputTokens, outputTokens));

const tokensWithin = ({ price, inputTokens, outputTokens }: Quote, mostUsd: number): number => {
  if (price === null) return outputTokens;
  const left = mostUsd - callCost(price, inputTokens, 0);
  if (left < 0) return -1;
  const perToken = callCost(price, 0, 1);
  return perToken === 0 ? outputTokens : Math.min(outputTokens, Math.floor(left / perToken));
};
