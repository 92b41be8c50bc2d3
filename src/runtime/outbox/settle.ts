import { type Clock, iso } from '../../kernel/clock.js';
import { type Statement, Unmet } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { SendingAttemptRow, SendingRow } from '../../store/tables/outbox.js';
import type { Job } from '../jobs/queue.js';
import { dropJob, postponeJob } from '../jobs/statements.js';
import type { Sent } from './carrier.js';
import type { Outbox, Posting } from './outbox.js';

export interface SettleDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbox, 'toApp'>;
}

/** An attempt and how it ended. */
export interface Attempt {
  job: Job;
  sending: SendingRow;
  /** What the target is to its owner, e.g. `slack`. */
  target: string;
  /** When it began; null: there was none, the sending ends without it. */
  at: number | null;
  sent: Sent;
  /** Of what may be worth another try; null: that was the last. */
  delayMs: number | null;
  /** The owner is not told of its end. */
  isQuiet?: boolean;
  /** What its carrier adds. */
  also?: Posting | undefined;
}

const EXCERPT = 2000;
const HOUR_MS = 3600_000;

/**
 * Writes down how an attempt ended and, in the same transaction, removes its job or puts it off,
 * and tells the owner of an end that is none. Resolves to when it is tried again, null: never.
 */
export const settle = async (deps: SettleDeps, attempt: Attempt): Promise<string | null> => {
  const { store, clock } = deps;
  const { job, sending, sent, delayMs, also } = attempt;
  const now = clock.now();
  const runAt = sent.verdict === 'retry' && delayMs !== null ? iso(now + delayMs) : null;
  const told = runAt === null && !attempt.isQuiet ? tell(deps, attempt, now) : null;
  const status = sent.verdict === 'retry' ? (runAt ? 'queued' : 'failed') : sent.verdict;
  const change = store.db
    .updateTable('sendings')
    .set({
      status,
      next_at: runAt,
      receipt: sent.verdict === 'sent' ? sent.receipt : null,
      error: sent.verdict === 'sent' ? null : sent.error,
      finished_at: runAt === null ? iso(now) : null,
    })
    .where('id', '=', sending.id);
  try {
    await store.transact([
      statement(change, 1),
      ...(attempt.at === null ? [] : [recordOf(deps, attempt, attempt.at, now)]),
      runAt === null ? dropJob(store, job.id) : postponeJob(store, job.id, runAt),
      ...(told?.statements ?? []),
      ...(also?.statements ?? []),
    ]);
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    // The target was deleted meanwhile, and the sending with it.
    await store.transact([dropJob(store, job.id)]);
    return null;
  }
  told?.published();
  also?.published();
  return runAt;
};

const recordOf = (
  { store }: SettleDeps,
  { sending, sent }: Attempt,
  at: number,
  now: number,
): Statement => {
  const row: SendingAttemptRow = {
    sending_id: sending.id,
    number: sending.attempts,
    at: iso(at),
    duration_ms: Math.max(0, now - at),
    verdict: sent.verdict,
    status: sent.status ?? null,
    excerpt: sent.excerpt?.slice(0, EXCERPT) ?? null,
    error: sent.verdict === 'sent' ? null : sent.error,
  };
  return statement(store.db.insertInto('sending_attempts').values(row));
};

/**
 * Told in the app alone: through the channels it could come round for ever. Of what is unknown the
 * owner hears each time, since only a person can decide whether it goes again; of what failed once
 * an hour for each target, since a dead one fails with everything.
 */
const tell = (
  { outbox }: SettleDeps,
  { sending, target, sent }: Attempt,
  now: number,
): Posting | null => {
  if (sent.verdict === 'sent') return null;
  const lane = sending.channel_id ?? sending.webhook_id ?? '';
  const link = sending.channel_id ? '/api/channels' : `/api/webhooks/${lane}/deliveries`;
  if (sent.verdict === 'unknown') {
    return outbox.toApp(sending.user_id, {
      kind: 'delivery_unknown',
      title: `${target}: answer lost, not sent again by itself`,
      body: `Whether "${sending.kind}" arrived is not known: ${sent.error}`,
      link,
      effectId: `${sending.id} unknown ${sending.attempts}`,
    });
  }
  return outbox.toApp(sending.user_id, {
    kind: 'delivery_failed',
    title: `${target}: a message could not be delivered`,
    body: `"${sending.kind}" was given up after ${sending.attempts} attempts: ${sent.error}`,
    link,
    effectId: `${lane} failed ${Math.floor(now / HOUR_MS)}`,
  });
};
