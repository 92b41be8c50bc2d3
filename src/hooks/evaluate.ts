import { LARGE_JSON_BYTES } from '../kernel/json.js';
import type { RunTask } from '../kernel/pool.js';
import { type ConditionVerdict, judgeConditions } from './conditions.js';
import { type Forward, forwardOf, noticeTextOf, toolArguments } from './render.js';
import { type HookRun, payloadOf, templateScope } from './run.js';

/**
 * All operations that read an execution's payload. Each result is small, whatever the size of the
 * payload. Large payloads and patterns are read in a worker thread. Errors: PoolFull, ThreadLost.
 */
export interface Evaluator {
  conditions(run: HookRun): Promise<ConditionVerdict>;
  /** Returns the text of a notification. */
  notice(run: HookRun): Promise<string>;
  forward(run: HookRun): Promise<Forward>;
  /** Returns the arguments of a tool. */
  arguments(run: HookRun): Promise<Record<string, unknown>>;
}

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
};

export const createEvaluator = (apart: RunTask<typeof evaluationTasks>): Evaluator => ({
  conditions: async (run) => {
    const { userId, conditions } = run.hook;
    if (conditions.length === 0) return { verdict: 'hold' };
    const isPattern = conditions.some(({ operator }) => operator === 'matches');
    const verdict = isLarge(run) || isPattern ? null : conditionsOf(run);
    return verdict && verdict.verdict !== 'error' ? verdict : apart(userId, 'conditions', run);
  },
  notice: async (run) => (isLarge(run) ? apart(run.hook.userId, 'notice', run) : noticeTextOf(run)),
  forward: async (run) => (isLarge(run) ? apart(run.hook.userId, 'forward', run) : forwardOf(run)),
  arguments: async (run) =>
    isLarge(run) ? apart(run.hook.userId, 'arguments', run) : toolArguments(run),
});

const isLarge = (run: HookRun): boolean => payloadOf(run).length > LARGE_JSON_BYTES;
