import { type Job, removeJob } from '../jobs/module.js';
import { type Clock, iso } from '../kernel/clock.js';
import { isCommitted, procedureStep, type Store } from '../store/store.js';
import type { MessageAttemptRow, OutboundMessageRow } from '../store/tables/outbox.js';
import { laneOfMessage } from './messages.js';
import { isKind, noticeKind } from './noticekinds.js';
import type { Notice, Outbox, QueuedMessage } from './outbox.js';
import type { Settlement } from './procedures/settle.js';
import type { SendResult } from './transport.js';

export interface SettleDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toApp'>;
}

export interface SendAttempt {
  job: Job;
  message: OutboundMessageRow;
  /** Target name for the owner, such as `slack`. */
  target: string;
  /** null: the message ends without an attempt. */
  at: number | null;
  sent: SendResult;
  /** null: last attempt. */
  delayMs: number | null;
  /** True: do not notify the owner. */
  isQuiet?: boolean;
  also?: QueuedMessage | undefined;
}

const EXCERPT = 2000;
const HOUR_MS = 3600_000;

/**
 * One transaction with the job and the notification. Resolves to the time of the next attempt;
 * null: none.
 */
export const settleSendAttempt = async (
  deps: SettleDeps,
  attempt: SendAttempt,
): Promise<string | null> => {
  const { store, clock } = deps;
  const { job, sent, delayMs, also } = attempt;
  const now = clock.now();
  const runAt = sent.verdict === 'retry' && delayMs !== null ? iso(now + delayMs) : null;
  const announcement =
    runAt === null && !attempt.isQuiet ? failureNotice(deps, attempt, now) : null;
  const isSettled = await isCommitted(
    store.transact([
      procedureStep('settleMessage', buildSettlement(attempt, { now, runAt })),
      ...(announcement?.statements ?? []),
      ...(also?.statements ?? []),
    ]),
  );
  if (!isSettled) {
    // The target was deleted meanwhile, and the message with it.
    await store.transact([removeJob(store, job.id)]);
    return null;
  }
  announcement?.published();
  also?.published();
  return runAt;
};

const buildSettlement = (
  attempt: SendAttempt,
  { now, runAt }: { now: number; runAt: string | null },
): Settlement => {
  const { job, message, sent, at } = attempt;
  const isSent = sent.verdict === 'sent';
  return {
    message: {
      id: message.id,
      status: sent.verdict === 'retry' ? (runAt ? 'queued' : 'failed') : sent.verdict,
      next_at: runAt,
      receipt: isSent ? sent.receipt : null,
      error: isSent ? null : sent.error,
      finished_at: runAt === null ? iso(now) : null,
    },
    attempt: at === null ? null : buildAttemptRow(attempt, at, now),
    recovered: isSent ? message.webhook_id : null,
    jobId: job.id,
  };
};

const buildAttemptRow = (
  { message, sent }: SendAttempt,
  at: number,
  now: number,
): MessageAttemptRow => ({
  sending_id: message.id,
  number: message.attempts,
  at: iso(at),
  duration_ms: Math.max(0, now - at),
  verdict: sent.verdict,
  status: sent.status ?? null,
  excerpt: sent.excerpt?.slice(0, EXCERPT) ?? null,
  error: sent.verdict === 'sent' ? null : sent.error,
});

/**
 * In the app only, because it could loop through the channels. Every unknown result is reported,
 * since only a user can decide to resend; failures once per hour and target.
 */
const failureNotice = (
  { outbox }: SettleDeps,
  { message, target, sent }: SendAttempt,
  now: number,
): QueuedMessage | null => {
  if (sent.verdict === 'sent') return null;
  const { kind, attempts, user_id, id, hook_id: hookId } = message;
  const lane = laneOfMessage(message);
  const link = message.channel_id
    ? '/api/channels'
    : hookId === null
      ? `/api/webhooks/${message.webhook_id}/deliveries`
      : `/api/hooks/${hookId}/replies`;
  // An endpoint gets events, which its owner knows by kind.
  const name =
    message.channel_id !== null && isKind(kind)
      ? noticeKind(kind).names[0]
      : (message.object ?? kind);
  const next = hookId === null ? '' : `. Resend it: ${resendCommand(hookId, id)}`;
  const notice: Omit<Notice, 'link'> =
    sent.verdict === 'unknown'
      ? {
          kind: 'delivery_unknown',
          title: `${target}: delivery status unknown`,
          body: `It is unknown whether "${name}" was delivered: ${sent.error}. The message is not resent automatically${next}`,
          effectId: `${id} unknown ${attempts}`,
        }
      : {
          kind: 'delivery_failed',
          title: `${target}: a message could not be delivered`,
          body: `Delivery of "${name}" failed after ${formatAttempts(attempts)}: ${sent.error}${next}`,
          effectId: `${lane} failed ${Math.floor(now / HOUR_MS)}`,
        };
  return outbox.toApp(user_id, { ...notice, link });
};

/** For a reply of a hook. */
const resendCommand = (hookId: string, id: string): string =>
  `adjutant hooks resend-reply ${hookId.slice(-SHORT)} ${id.slice(-SHORT)}`;
const SHORT = 6;

const formatAttempts = (count: number): string =>
  count === 1 ? 'one attempt' : `${count} attempts`;
