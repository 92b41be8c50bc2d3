import type { Job, JobHandler } from '../../jobs/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Outbox } from '../../outbound/module.js';
import { MailFault } from '../../providers/mail/fault.js';
import { retryWhileUnavailable } from '../../store/retry.js';
import type { MailAccountRow, SentMailRow, SentRecipient } from '../../store/tables/mail.js';
import type { MailAccess } from '../accounts/access.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import { AttachmentGone, type MailFiles, writeMail } from './compose.js';
import { saveCopy } from './copy.js';
import { undeliveredMail } from './notice.js';
import {
  finalOutcome,
  isOpenRecipient,
  type MailAttempt,
  type MailOutcome,
  markUnknown,
  outcomeOfAttempt,
  withBounces,
} from './outcome.js';
import type { SentMailStore } from './queries.js';

export interface DeliveryDeps {
  clock: Clock;
  sent: SentMailStore;
  accounts: MailAccountsStore;
  access: MailAccess;
  files: MailFiles;
  outbox: Pick<Outbox, 'toOwner'>;
  /** False also for a disabled user. */
  maySend(userId: string): Promise<boolean>;
  delayed(lane: string, runAt: string): void;
}

interface RunningMail {
  job: Job;
  row: SentMailRow;
  account: MailAccountRow;
}

const LOST = 'the daemon ended before the answer was recorded';
const NO_ACCOUNT = 'the mail account was deleted';
const NOT_ALLOWED = 'the owner no longer has the permission email';

/**
 * `sending` is on disk before the first byte is sent: a message found in that status may have
 * arrived and is not resent.
 */
export const createMailDelivery = (deps: DeliveryDeps): JobHandler => {
  const { sent } = deps;

  const find = async (job: Job): Promise<RunningMail | null> => {
    const row = await sent.byId(job.ref);
    const account = row && (await deps.accounts.get(row.user_id, row.account_id));
    if (row && account) return { job, row, account };
    if (row) await endWithoutAccount(deps, { job, row });
    else await sent.write([sent.drop(job)]);
    return null;
  };

  const end = (of: RunningMail, recipients: SentRecipient[], error: string): Promise<void> =>
    settle(deps, of, finalOutcome(recipients, error));

  const deliver = async (of: RunningMail, signal: AbortSignal): Promise<void> => {
    const { row } = of;
    const recipients: SentRecipient[] = JSON.parse(row.recipients);
    if (row.status === 'sending') return end(of, markUnknown(recipients, LOST), LOST);
    if (!(await deps.maySend(row.user_id))) return end(of, refused(recipients), NOT_ALLOWED);
    const outcome = await attempt(deps, of, { recipients, signal });
    if (outcome) await retryWhileUnavailable(deps.clock, () => settle(deps, of, outcome), signal);
  };

  return {
    run: async (job, signal) => {
      const of = await find(job);
      if (!of) return null;
      if (of.row.status === 'queued' || of.row.status === 'sending') await deliver(of, signal);
      const after = await sent.byId(job.ref);
      if (after?.copy === 'wanted' && after.finished_at !== null) {
        await saveCopy(deps, { ...of, row: after }, signal);
      }
      return null;
    },
    abandon: async (job, error) => {
      const of = await find(job);
      if (!of) return;
      const recipients: SentRecipient[] = JSON.parse(of.row.recipients);
      const isLost = of.row.status === 'sending';
      await end(of, isLost ? markUnknown(recipients, LOST) : refused(recipients), error.message);
    },
  };
};

const endWithoutAccount = async (
  deps: DeliveryDeps,
  { job, row }: Pick<RunningMail, 'job' | 'row'>,
): Promise<void> => {
  if (row.finished_at === null) {
    const recipients: SentRecipient[] = JSON.parse(row.recipients);
    const isLost = row.status === 'sending';
    const error = isLost ? LOST : NO_ACCOUNT;
    const after = isLost ? markUnknown(recipients, LOST) : refused(recipients, NO_ACCOUNT);
    return settle(deps, { job, row, account: null }, finalOutcome(after, error));
  }
  const error = `The e-mail was sent, but the copy in the sent folder was not saved: ${NO_ACCOUNT}`;
  const isWanted = row.copy === 'wanted';
  const { sent } = deps;
  const steps = [sent.drop(job)];
  if (!isWanted || !(await sent.settle(row, { copy: 'failed', error }, steps)))
    await sent.write(steps);
};

const refused = (recipients: SentRecipient[], reply?: string): SentRecipient[] =>
  recipients.map((one) =>
    isOpenRecipient(one) ? { ...one, status: 'refused', reply: reply ?? one.reply } : one,
  );

/** Resolves to null if another run is sending the message. */
const attempt = async (
  deps: DeliveryDeps,
  { row, account }: RunningMail,
  { recipients, signal }: { recipients: SentRecipient[]; signal: AbortSignal },
): Promise<MailOutcome | null> => {
  const attempts = row.attempts + 1;
  let isTaken = false;
  let result: MailAttempt;
  try {
    const message = await writeMail(deps.files, row, account);
    const session = await deps.access.smtp(account, signal);
    try {
      const to = recipients.filter(isOpenRecipient).map(({ address }) => address);
      const envelope = { from: account.address, to, id: row.message_id.slice(1, -1) };
      const begin = async (): Promise<void> => {
        isTaken = !(await deps.sent.begin(row));
        if (isTaken) throw new Error('Another run is sending the message');
      };
      result = { replies: await session.send(envelope, message, begin) };
    } finally {
      session.close();
    }
  } catch (error) {
    if (isTaken) return null;
    if (error instanceof AttachmentGone) {
      const way = 'Upload the document again and send a new e-mail';
      const message = `Sending failed: ${error.message}. ${way}`;
      return finalOutcome(refused(recipients), message);
    }
    if (!(error instanceof MailFault)) throw error;
    result = { fault: error };
  }
  return outcomeOfAttempt(recipients, result, attempts);
};

type SettledMail = Omit<RunningMail, 'account'> & { account: MailAccountRow | null };

const settle = async (deps: DeliveryDeps, of: SettledMail, outcome: MailOutcome): Promise<void> => {
  const { job, row, account } = of;
  const { status, recipients, delayMs, error } = outcome;
  const { sent, clock } = deps;
  const now = clock.now();
  const nextAt = delayMs === null ? null : iso(now + delayMs);
  const isCopied = status === 'sent' && account?.save_sent === 1;
  const notice = nextAt === null ? undeliveredMail(deps.outbox, row, recipients) : null;
  const changes: Partial<SentMailRow> = {
    status,
    error,
    recipients: JSON.stringify(recipients),
    next_at: nextAt,
    attempts: row.status === 'sending' ? row.attempts : row.attempts + 1,
    copy: isCopied ? 'wanted' : row.copy,
    finished_at: nextAt === null ? iso(now) : null,
  };
  // The job continues with saving the copy.
  const jobStep = nextAt === null ? sent.drop(job) : sent.release(job, nextAt);
  const steps = isCopied ? [] : [jobStep];
  const isSettled = await sent.settle(row, changes, [...steps, ...(notice?.statements ?? [])]);
  if (!isSettled) return settleAfterChange(deps, of, outcome);
  notice?.published();
  if (nextAt !== null) deps.delayed(job.lane, nextAt);
};

/** Recipients that bounced meanwhile stay bounced. Otherwise the message is gone or cancelled. */
const settleAfterChange = async (
  deps: DeliveryDeps,
  of: SettledMail,
  outcome: MailOutcome,
): Promise<void> => {
  const { sent } = deps;
  const { recipients, finished_at, copy } = (await sent.byId(of.row.id)) ?? of.row;
  const isCancelled = of.row.finished_at === null && finished_at !== null;
  // The job continues with saving the copy.
  if (isCancelled && copy === 'wanted') return;
  if (isCancelled || recipients === of.row.recipients)
    return void (await sent.write([sent.drop(of.job)]));
  const row = { ...of.row, recipients };
  return settle(deps, { ...of, row }, withBounces(outcome, JSON.parse(recipients)));
};
