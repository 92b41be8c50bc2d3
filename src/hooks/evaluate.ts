import { LARGE_JSON_BYTES } from '../kernel/json.js';
import type { RunTask } from '../kernel/pool.js';
import { type ConditionVerdict, judgeConditions } from './conditions.js';
import {
  type Forward,
  markdownArguments,
  type NoticeText,
  renderForward,
  renderNoticeText,
  toolArguments,
} from './render.js';
import { replyTasks } from './replies/render.js';
import { type FoundTarget, findReplyLoop, findReplyTarget, type ReplyLoop } from './replytarget.js';
import { type HookRun, payloadLength, templateScope } from './run.js';

const evaluateConditions = (run: HookRun): ConditionVerdict =>
  judgeConditions(run.hook.conditions, templateScope(run));

/** On a busy machine a fast comparison may once exceed the time limit, so it is repeated. */
const judgeWithRetry = (run: HookRun): ConditionVerdict => {
  const first = evaluateConditions(run);
  return first.verdict === 'error' ? evaluateConditions(run) : first;
};

export const evaluationTasks = {
  conditions: judgeWithRetry,
  notice: renderNoticeText,
  forward: renderForward,
  arguments: toolArguments,
  markdown: markdownArguments,
  replyTarget: findReplyTarget,
  replyLoop: findReplyLoop,
  ...replyTasks,
};

/** Large payloads and patterns are evaluated in a worker thread. Throws PoolFull and ThreadTerminated. */
export const createEvaluator = (apart: RunTask<typeof evaluationTasks>) => ({
  conditions: async (run: HookRun): Promise<ConditionVerdict> => {
    const { userId, conditions } = run.hook;
    if (conditions.length === 0) return { verdict: 'hold' };
    const isPattern = conditions.some(({ operator }) => operator === 'matches');
    const verdict = isLarge(run) || isPattern ? null : evaluateConditions(run);
    return verdict && verdict.verdict !== 'error' ? verdict : apart(userId, 'conditions', run);
  },
  notice: async (run: HookRun): Promise<NoticeText> =>
    isLarge(run) ? apart(run.hook.userId, 'notice', run) : renderNoticeText(run),
  forward: async (run: HookRun): Promise<Forward> =>
    isLarge(run) ? apart(run.hook.userId, 'forward', run) : renderForward(run),
  arguments: async (run: HookRun): Promise<Record<string, unknown>> =>
    isLarge(run) ? apart(run.hook.userId, 'arguments', run) : toolArguments(run),
  markdown: async (run: HookRun): Promise<Record<string, string>> =>
    isLarge(run) ? apart(run.hook.userId, 'markdown', run) : markdownArguments(run),
  replyTarget: async (run: HookRun): Promise<FoundTarget> =>
    isLarge(run) ? apart(run.hook.userId, 'replyTarget', run) : findReplyTarget(run),
  replyLoop: async (run: HookRun): Promise<ReplyLoop> =>
    isLarge(run) ? apart(run.hook.userId, 'replyLoop', run) : findReplyLoop(run),
});

export type Evaluator = ReturnType<typeof createEvaluator>;

const isLarge = (run: HookRun): boolean => payloadLength(run) > LARGE_JSON_BYTES;
