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

/**
 * Judges the conditions a second time after an error: on a busy machine a quick comparison may once
 * take too long.
 */
const conditionsWithPatience = (run: HookRun): ConditionVerdict => {
  const first = conditionsOf(run);
  return first.verdict === 'error' ? conditionsOf(run) : first;
};

/** The operations that a worker thread performs. */
export const evaluationTasks = {
  conditions: conditionsWithPatience,
  notice: noticeTextOf,
  forward: forwardOf,
  arguments: toolArguments,
  markdown: markdownArguments,
};

/**
 * Creates all operations that read an execution's payload. Each result is small, whatever the size
 * of the payload. Large payloads and patterns are read in a worker thread. Errors: PoolFull,
 * ThreadLost.
 */
export const createEvaluator = (apart: RunTask<typeof evaluationTasks>) => ({
  conditions: async (run: HookRun): Promise<ConditionVerdict> => {
    const { userId, conditions } = run.hook;
    if (conditions.length === 0) return { verdict: 'hold' };
    const isPattern = conditions.some(({ operator }) => operator === 'matches');
    const verdict = isLarge(run) || isPattern ? null : conditionsOf(run);
    return verdict && verdict.verdict !== 'error' ? verdict : apart(userId, 'conditions', run);
  },
  /** Returns the text of a notification. */
  notice: async (run: HookRun): Promise<NoticeText> =>
    isLarge(run) ? apart(run.hook.userId, 'notice', run) : noticeTextOf(run),
  forward: async (run: HookRun): Promise<Forward> =>
    isLarge(run) ? apart(run.hook.userId, 'forward', run) : forwardOf(run),
  /** Returns the arguments of a tool, or the parameters of a pipeline. */
  arguments: async (run: HookRun): Promise<Record<string, unknown>> =>
    isLarge(run) ? apart(run.hook.userId, 'arguments', run) : toolArguments(run),
  /** Returns the texts among the arguments of a tool as Markdown. */
  markdown: async (run: HookRun): Promise<Record<string, string>> =>
    isLarge(run) ? apart(run.hook.userId, 'markdown', run) : markdownArguments(run),
});

export type Evaluator = ReturnType<typeof createEvaluator>;

const isLarge = (run: HookRun): boolean => payloadLength(run) > LARGE_JSON_BYTES;
