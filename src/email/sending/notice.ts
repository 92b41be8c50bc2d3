import { pageLink } from '../../kernel/pagepath.js';
import type { Outbox, QueuedMessage } from '../../outbound/module.js';
import type { SentMailRow, SentRecipient } from '../../store/tables/mail.js';

const MAX_NAMED_RECIPIENTS = 5;
const SENT = `${pageLink('mail')}?show=sent`;

/** null: all recipients received it. */
export const undeliveredMail = (
  outbox: Pick<Outbox, 'toOwner'>,
  { id, user_id, subject, attempts }: SentMailRow,
  recipients: SentRecipient[],
): QueuedMessage | null => {
  // Earlier bounces were already reported.
  const open = recipients.filter(({ status }) => status !== 'sent' && status !== 'bounced');
  if (open.length === 0) return null;
  const isLost = open.some(({ status }) => status === 'unknown');
  const title = isLost
    ? `E-mail "${truncateSubject(subject)}": delivery status unknown, not resent automatically`
    : `E-mail "${truncateSubject(subject)}" did not reach ${formatRecipientCount(open.length, recipients.length, 'any recipient')}`;
  return outbox.toOwner(user_id, {
    kind: isLost ? 'mail_unknown' : 'mail_failed',
    title,
    body: formatRecipientLines(open),
    link: SENT,
    about: subject,
    effectId: `${id} ${attempts}`,
  });
};

export const bouncedMail = (
  outbox: Pick<Outbox, 'toOwner'>,
  {
    row: { id, user_id, subject },
    recipients,
    bounced,
    reportId,
  }: {
    row: SentMailRow;
    recipients: SentRecipient[];
    bounced: SentRecipient[];
    reportId: string;
  },
): QueuedMessage =>
  outbox.toOwner(user_id, {
    kind: 'mail_failed',
    title: `E-mail "${truncateSubject(subject)}" bounced from ${formatRecipientCount(bounced.length, recipients.length)}`,
    body: formatRecipientLines(bounced),
    link: SENT,
    about: subject,
    effectId: `${id} ${reportId}`,
  });

const formatRecipientLines = (all: SentRecipient[]): string => {
  const lines = all
    .slice(0, MAX_NAMED_RECIPIENTS)
    .map(({ address, reply }) => (reply === null ? address : `${address}: ${reply}`));
  const more =
    all.length > MAX_NAMED_RECIPIENTS ? [`and ${all.length - MAX_NAMED_RECIPIENTS} more`] : [];
  return [...lines, ...more].join('\n');
};

const MAX_SUBJECT_LENGTH = 80;

const truncateSubject = (subject: string): string =>
  [...subject].length <= MAX_SUBJECT_LENGTH
    ? subject
    : `${[...subject].slice(0, MAX_SUBJECT_LENGTH - 1).join('')}…`;

const formatRecipientCount = (open: number, all: number, every = 'all recipients'): string => {
  if (open === all) return all === 1 ? 'its recipient' : every;
  return `${open} of ${all} recipients`;
};
