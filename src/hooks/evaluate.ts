import { LARGE_JSON_BYTES } from '../kernel/json.js';
import type { RunTask } from '../kernel/pool.js';
import { type ConditionVerdict, judgeConditions } from './conditions.js';
import {
  type Forward,
  forwardOf,
  markdownArguments,
  type NoticeText,
  noticeTextOf,
  toolArguments,
} from './render.js';
import { type HookRun, payloadLength, templateScope } from './run.js';

const conditionsOf = (run: HookRun): ConditionVerdict =>
  judgeConditions(run.hook.conditions, templateScope(run));

/** On a busy machine a fast comparison may once exceed the time limit, so it is repeated. */
const judgeWithRetry = (run: HookRun): ConditionVerdict => {
  const first = conditionsOf(run);
  return first.verdict === 'error' ? conditionsOf(run) : first;
};

export const evaluationTasks = {
  conditions: judgeWithRetry,
  notice: noticeTextOf,
  forward: forwardOf,
  arguments: toolArguments,
  markdown: markdownArguments,
};

/** Large payloads and patterns are evaluated in a worker thread. Throws PoolFull and ThreadTerminated. */
export const createEvaluator = (apart: RunTask<typeof evaluationTasks>) => ({
  conditions: async (run: HookRun): Promise<ConditionVerdict> => {
    const { userId, conditions } = run.hook;
    if (conditions.length === 0) return { verdict: 'hold' };
    const isPattern = conditions.some(({ operator }) => operator === 'matches');
    const verdict = isLarge(run) || isPattern ? null : conditionsOf(run);
    return verdict && verdict.verdict !== 'error' ? verdict : apart(userId, 'conditions', run);
  },
  notice: async (run: HookRun): Promise<NoticeText> =>
    isLarge(run) ? apart(run.hook.userId, 'notice', run) : noticeTextOf(run),
  forward: async (run: HookRun): Promise<Forward> =>
    isLarge(run) ? apart(run.hook.userId, 'forward', run) : forwardOf(run),
  arguments: async (run: HookRun): Promise<Record<string, unknown>> =>
    isLarge(run) ? apart(run.hook.userId, 'arguments', run) : toolArguments(run),
  markdown: async (run: HookRun): Promise<Record<string, string>> =>
    isLarge(run) ? apart(run.hook.userId, 'markdown', run) : markdownArguments(run),
});

export type Evaluator = ReturnType<typeof createEvaluator>;

const isLarge = (run: HookRun): boolean => payloadLength(run) > LARGE_JSON_BYTES;
