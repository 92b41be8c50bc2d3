import { type Job, type JobHandler, type Queue, removeJob } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import { retryWhileUnavailable } from '../store/retry.js';
import type { StartedMessage } from '../store/tables/outbox.js';
import type { Rates } from './rates.js';
import { type SettleDeps, settleSendAttempt } from './settlement.js';
import type { TargetHealth } from './targethealth.js';
import type { SendResult, Transport, Transports } from './transport.js';

export interface SenderDeps extends SettleDeps {
  queue: Pick<Queue, 'added' | 'delayed' | 'rest'>;
  rates: Rates;
  transports: Transports;
  targetHealth: TargetHealth;
}

const DAY_MS = 24 * 3600_000;
const JITTER = 0.2;

/** `sending` is on disk before the first byte is sent. */
export const createSender = (deps: SenderDeps): JobHandler => {
  const { store, clock, queue, rates, transports } = deps;

  const begin = async (job: Job): Promise<StartedMessage | null> => {
    const of = { ...transports.targets(), paced: [], now: iso(clock.now()) };
    const [started = null] = await store.call('beginMessages', { ids: [job.ref], ...of });
    return started;
  };

  /** Waits for a target with a pace. */
  const beginInTurn = async (job: Job, signal: AbortSignal): Promise<StartedMessage | null> => {
    const { begun } = job;
    if (begun?.verdict !== 'waits') return begun ?? begin(job);
    await transports.find(begun.target)?.ready?.(begun.message, signal);
    return begin(job);
  };

  /** Puts the message back as the first of its lane, which rests until then. */
  const isTooEarly = async ({ id, lane, begun }: Job): Promise<boolean> => {
    const perMinute = begun?.verdict === 'waits' ? begun.message.webhook?.rate_per_minute : null;
    if (perMinute === null || perMinute === undefined) return false;
    const nextMs = rates.take(lane, perMinute);
    queue.rest(lane, Math.abs(nextMs));
    if (nextMs > 0) return false;
    const sql = 'UPDATE jobs SET boot = NULL, attempts = 0 WHERE id = ?';
    await store.transact([{ sql, parameters: [id] }]);
    queue.added(lane);
    return true;
  };

  /** Ends a message without an attempt. */
  const end = async (job: Job, begun: StartedMessage | null, error: string): Promise<void> => {
    if (!begun || begun.verdict === 'over') {
      await store.transact([removeJob(store, job.id)]);
      return;
    }
    const { message, target, verdict } = begun;
    const isOver = verdict === 'lost' || verdict === 'suspended';
    const over = isOver ? OVER[verdict] : failedResult(error);
    await settleSendAttempt(deps, { job, message, target, at: null, delayMs: null, ...over });
  };

  return {
    run: async (job, signal, free) => {
      if (await isTooEarly(job)) return null;
      const begun = await beginInTurn(job, signal);
      const transport = begun?.verdict === 'begun' ? transports.find(begun.target) : undefined;
      if (begun && transport) await attempt(deps, { job, begun, transport, free }, signal);
      else await end(job, begun, `unsupported target: ${begun?.target}`);
      return null;
    },
    abandon: async (job, error) => end(job, await begin(job), error.message),
  };
};

type SettledEnd = Pick<Parameters<typeof settleSendAttempt>[1], 'sent' | 'isQuiet'>;

const failedResult = (error: string): SettledEnd => ({ sent: { verdict: 'failed', error } });

const OVER = {
  lost: { sent: { verdict: 'unknown', error: 'the daemon ended before the answer was recorded' } },
  suspended: { ...failedResult('the owner or the target is disabled'), isQuiet: true },
} as const;

const attempt = async (
  deps: SenderDeps,
  {
    job,
    begun,
    transport,
    free,
  }: { job: Job; begun: StartedMessage; transport: Transport; free(): void },
  signal: AbortSignal,
): Promise<void> => {
  const { clock, targetHealth, queue } = deps;
  const { message, target } = begun;
  const at = clock.now();
  const sent = await transport.send(message, signal);
  const restMs = targetHealth.note(job.lane, sent);
  // Before the failure becomes visible, so that a manual resend overrides it.
  if (restMs > 0) queue.rest(job.lane, restMs);
  const also = sent.verdict === 'sent' ? undefined : await transport.failed?.(message, sent);
  const delayMs = computeRetryDelay(transport, begun, { sent, now: clock.now() });
  const end = { job, message, target, at, sent, delayMs, also };
  const settled = retryWhileUnavailable(clock, () => settleSendAttempt(deps, end), signal);
  // The next job is claimed in the transaction that settles this one, or later.
  if (sent.verdict === 'sent') free();
  const runAt = await settled;
  transport.settled?.(message);
  if (runAt !== null) queue.delayed(job.lane, runAt);
};

/**
 * With jitter; null: no further attempt. Messages that wait longer behind a dead target than all
 * their attempts would take are given up, except manually resent ones. A target may request at most
 * a day.
 */
const computeRetryDelay = (
  { delaysMs }: Transport,
  { message: { attempts, created_at }, tries }: Pick<StartedMessage, 'message' | 'tries'>,
  { sent, now }: { sent: SendResult; now: number },
): number | null => {
  const delayMs = delaysMs[tries - 1];
  const longestMs = delaysMs.reduce((sum, each) => sum + each, DAY_MS);
  if (sent.verdict !== 'retry' || delayMs === undefined) return null;
  if (tries === attempts && now - Date.parse(created_at) > longestMs) return null;
  const askedMs = Math.min(sent.afterMs ?? 0, DAY_MS);
  return Math.max(askedMs, delayMs * (1 + Math.random() * JITTER));
};
