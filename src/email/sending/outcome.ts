import type { MailFault } from '../../providers/mail/fault.js';
import { type RecipientReply, RecipientsRefused, ReplyLost } from '../../providers/mail/smtp.js';
import type { SentMailRow, SentRecipient } from '../../store/tables/mail.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** 24 hours in total. Greylisting servers accept after some minutes. */
const DELAYS_MS: readonly number[] = [
  ...[MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 40 * MINUTE_MS],
  ...[HOUR_MS, 2 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS, 8 * HOUR_MS],
];

export type MailAttempt = { replies: RecipientReply[] } | { fault: MailFault };

export type MailOutcome = Pick<SentMailRow, 'status' | 'error'> & {
  recipients: SentRecipient[];
  /** null: no further attempt. */
  delayMs: number | null;
};

export const isOpenRecipient = ({ status }: SentRecipient): boolean => status === 'queued';

/**
 * Temporarily rejected recipients stay queued until the last attempt. Nobody who may have received
 * it is sent to again.
 */
export const outcomeOfAttempt = (
  before: SentRecipient[],
  attempt: MailAttempt,
  attempts: number,
): MailOutcome => {
  const results = before.map((one) => (isOpenRecipient(one) ? applyAttempt(one, attempt) : one));
  const delayMs = results.some(isOpenRecipient) ? (DELAYS_MS[attempts - 1] ?? null) : null;
  if (delayMs !== null) {
    return {
      status: 'queued',
      recipients: results,
      delayMs,
      error: getAttemptError(attempt, results),
    };
  }
  return finalOutcome(
    results.map((one) => (isOpenRecipient(one) ? { ...one, status: 'refused' } : one)),
  );
};

export const finalOutcome = (
  recipients: SentRecipient[],
  error: string | null = null,
): MailOutcome => {
  const has = (wanted: SentRecipient['status']): boolean =>
    recipients.some(({ status }) => status === wanted);
  const without = has('cancelled') ? 'cancelled' : 'failed';
  const status = has('unknown') ? 'unknown' : has('sent') ? 'sent' : without;
  return { status, recipients, delayMs: null, error: error ?? firstReply(recipients) };
};

export const withBounces = (outcome: MailOutcome, now: SentRecipient[]): MailOutcome => {
  const recipients = outcome.recipients.map((one, at) =>
    now[at]?.status === 'bounced' ? now[at] : one,
  );
  if (outcome.delayMs === null) return finalOutcome(recipients, outcome.error);
  return { ...outcome, recipients };
};

export const markUnknown = (recipients: SentRecipient[], reply: string): SentRecipient[] =>
  recipients.map((one) => (isOpenRecipient(one) ? { ...one, status: 'unknown', reply } : one));

export const cancelledOutcome = (recipients: SentRecipient[]): MailOutcome =>
  finalOutcome(
    recipients.map((one) => (isOpenRecipient(one) ? { ...one, status: 'cancelled' } : one)),
  );

const applyAttempt = (recipient: SentRecipient, attempt: MailAttempt): SentRecipient => {
  if ('replies' in attempt) return withReply(recipient, attempt.replies);
  const { fault } = attempt;
  if (fault instanceof ReplyLost) {
    const after = withReply(recipient, fault.refused);
    return after === recipient ? { ...after, status: 'unknown', reply: fault.message } : after;
  }
  if (fault instanceof RecipientsRefused) return withReply(recipient, fault.recipients);
  // The server rejected the message, not the login or the connection.
  const isRefused = fault.kind === 'server' && fault.status !== undefined && fault.status >= 500;
  return { ...recipient, ...(isRefused && { status: 'refused' }), reply: fault.message };
};

const withReply = (recipient: SentRecipient, replies: RecipientReply[]): SentRecipient => {
  const found = replies.find(
    ({ address }) => address.toLowerCase() === recipient.address.toLowerCase(),
  );
  if (!found) return recipient;
  const { isAccepted, status, reply } = found;
  if (isAccepted) return { ...recipient, status: 'sent', reply };
  return { ...recipient, reply, ...(status !== null && status >= 500 && { status: 'refused' }) };
};

const getAttemptError = (attempt: MailAttempt, recipients: SentRecipient[]): string | null =>
  'fault' in attempt ? attempt.fault.message : firstReply(recipients);

const firstReply = (recipients: SentRecipient[]): string | null =>
  recipients.find(({ status }) => status !== 'sent')?.reply ?? null;
