import { iso } from '../kernel/clock.js';
import { MAX_HOPS } from '../kernel/hops.js';
import { orgOf } from '../kernel/ids.js';
import { memberAt } from '../kernel/jsonvalue.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Outbox, PreparedNotice } from '../outbound/module.js';
import type { Evaluator } from './evaluate.js';
import { greetingReason } from './greet.js';
import type { OpenedHook } from './hook.js';
import type { Directory } from './inbound/receivinghooks.js';
import type { OutcomeDeps, RunOutcome } from './outcome.js';
import type { Admission } from './procedures/admit.js';
import type { RepliesStore } from './replies/queries.js';
import { countRunHops, firedBy, getDeliveryHeaders, type HookRun } from './run.js';

export interface StopsDeps extends OutcomeDeps {
  evaluate: Evaluator;
  directory: Directory;
  replies: Pick<RepliesStore, 'lastSent' | 'countSince'>;
}

export interface AdmissionDeps {
  directory: Directory;
  outbound: OutcomeDeps['outbound'];
}

export type Stopped = Pick<RunOutcome, 'status' | 'notice'> & { error: string };

export const isFirst = ({ execution }: HookRun): boolean => execution.started_at === null;

/** An agent without limits of the hook is admitted in the transaction that spawns it. */
export const isAdmittedAtSpawn = ({ hook }: HookRun): boolean =>
  hook.action === 'spawn_agent' && hook.cooldownMs === 0 && hook.maxExecutions === null;

export const findEarlyEnd = async (deps: StopsDeps, run: HookRun): Promise<Stopped | null> => {
  if (wasInterrupted(run)) return interruption(run);
  if (run.isSuspended) {
    const error =
      orgOf(run.hook.userId) === null
        ? "the owner's account is disabled"
        : 'the organization was deleted, or is not approved. Replay the execution if needed';
    return { status: isFirst(run) ? 'skipped' : 'error', error };
  }
  if (!isFirst(run)) return null;
  const hops = countRunHops(run);
  if (hops >= MAX_HOPS) return skipped(await reportLoop(deps, run, hops));
  if (repliesToAutomaticEmail(run)) return skipped(AUTOMATIC_EMAIL);
  const greeting = greetingIn(run);
  if (greeting !== null) return skipped(greeting);
  const loop = await findLoopOfReplies(deps, run);
  if (loop !== null) return skipped(loop);
  const judged = await deps.evaluate.conditions(run);
  if (judged.verdict === 'error') return { status: 'error', error: judged.reason };
  return judged.verdict === 'stopped' ? skipped(judged.reason) : null;
};

/** A manual replay always runs. */
const greetingIn = ({ hook, delivery, execution }: HookRun): string | null => {
  if (delivery === null || execution.replay_of !== null) return null;
  return greetingReason(hook, { event: delivery.event, headers: getDeliveryHeaders(delivery) });
};

/** A manual replay always runs. */
const findLoopOfReplies = async (deps: StopsDeps, run: HookRun): Promise<string | null> => {
  const { hook, execution } = run;
  if (hook.actionConfig.reply === undefined || execution.replay_of !== null) return null;
  const { isOwn, isBot, object } = await deps.evaluate.replyLoop(run);
  if (isOwn) return 'own_reply: the comment is a reply that Adjutant posted';
  if (object === null) return null;
  const since = iso(deps.clock.now() - HOUR_MS);
  const [before, recent] = await Promise.all([
    deps.replies.lastSent(hook.id, object),
    deps.replies.countSince(hook.id, object, since),
  ]);
  if (isBot && before !== null) return BOT_REPLY;
  // Not every platform says which accounts belong to programs.
  return recent < MAX_PER_HOUR
    ? null
    : `reply_limit: the hook has replied ${recent} times to the same object within an hour`;
};

const HOUR_MS = 3_600_000;
const MAX_PER_HOUR = 20;
const BOT_REPLY =
  'bot_reply: a program acts where this hook has already replied. Programs must not answer each other without end';

/** Prevents two programs from answering each other (RFC 3834, section 2). */
const repliesToAutomaticEmail = ({ hook: { action, actionConfig }, execution }: HookRun): boolean =>
  execution.replay_of === null &&
  action === 'execute_tool' &&
  actionConfig.toolId === 'email' &&
  actionConfig.toolAction === 'send' &&
  memberAt(firedBy(execution), 'email', 'automatic') === true;

const AUTOMATIC_EMAIL =
  'the e-mail is automatic (header Auto-Submitted), and hooks do not reply to automatic e-mails';

/** True if an effect that must not happen twice began and its end was not recorded. */
const wasInterrupted = ({ execution }: HookRun): boolean =>
  execution.effect === 'begun' && execution.action === 'execute_tool';

const interruption = ({ hook: { name }, execution }: HookRun): Stopped => {
  const error =
    'The daemon stopped during this execution. It is not retried automatically. Replay it if needed';
  const notice = {
    kind: 'hook_interrupted' as const,
    title: `${name}: interrupted`,
    body: error,
    link: pageLink('execution', execution.id),
    about: name,
  };
  return { status: 'interrupted', error, notice: { notice, isSent: true } };
};

export const buildAdmission = (
  { directory, outbound }: AdmissionDeps,
  { hook, execution }: HookRun,
  now: number,
): { admission: Admission; publishedLast(): void } => {
  const exhausted = hook.maxExecutions === null ? null : exhaustedNotice(outbound.outbox, hook);
  return {
    admission: {
      hookId: hook.id,
      now: iso(now),
      // A manual replay ignores the cooldown.
      cooldownSince: iso(execution.replay_of === null ? now - hook.cooldownMs : now),
      exhausted: exhausted === null ? null : exhausted.posting,
    },
    publishedLast: () => {
      directory.disable(hook.id);
      exhausted?.published();
    },
  };
};

export const formatAdmissionRefusals = ({ cooldownMs, maxExecutions }: OpenedHook) => ({
  cooldown: `within the cooldown of ${cooldownMs} ms`,
  exhausted: `the hook has reached its limit of ${maxExecutions} executions`,
});

export const skipped = (error: string): Stopped => ({ status: 'skipped', error });

/** At most once an hour per hook, because the loop may start again at once. */
const reportLoop = async (
  { clock, outbound }: StopsDeps,
  { hook }: HookRun,
  hops: number,
): Promise<string> => {
  const hour = iso(clock.now()).slice(0, HOUR);
  await outbound.outbox.send(hook.userId, {
    kind: 'hook_loop',
    title: `${hook.name}: loop stopped`,
    body: `The hook did not run, because its trigger has already passed through this daemon ${hops} times. An outgoing webhook, a forward, a tool or another hook triggers it again.`,
    link: `${pageLink('executions')}?hookId=${hook.id}`,
    about: hook.name,
    effectId: `loop ${hook.id} ${hour}`,
    hops,
  });
  return `loop: the trigger has passed through this daemon ${hops} times`;
};

const HOUR = 13;

const exhaustedNotice = (outbox: Outbox, hook: OpenedHook): PreparedNotice =>
  outbox.noticeOf(
    hook.userId,
    {
      kind: 'hook_exhausted',
      title: `${hook.name}: disabled`,
      body: `The hook has reached its limit of ${hook.maxExecutions} executions and is now disabled.`,
      link: `${pageLink('executions')}?hookId=${hook.id}`,
    },
    true,
  );
