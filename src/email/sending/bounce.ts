import { EMPTY_POSTING, type Outbox, type QueuedMessage } from '../../outbound/module.js';
import { isCommandRefused } from '../../providers/mail/fault.js';
import type { ImapSession } from '../../providers/mail/imap.js';
import { type FailureReport, parseFailureReport } from '../../providers/mail/report.js';
import { decodedPart } from '../../providers/mail/structure.js';
import type {
  MailAccountRow,
  MailFile,
  MailMessageRow,
  SentMailRow,
  SentRecipient,
} from '../../store/tables/mail.js';
import { bouncedMail } from './notice.js';
import { finalOutcome } from './outcome.js';
import type { BouncedMailStore } from './queries.js';

/**
 * Marks recipients of messages from this account and notifies the owner. Fails if they changed
 * meanwhile.
 */
export type FindBounces = (
  mailbox: { session: ImapSession; account: MailAccountRow },
  news: MailMessageRow[],
) => Promise<QueuedMessage>;

interface BounceDeps {
  sent: BouncedMailStore;
  outbox: Pick<Outbox, 'toOwner'>;
}

interface BouncedMail {
  row: SentMailRow;
  recipients: SentRecipient[];
  bounced: SentRecipient[];
  reportId: string;
}

/** Bytes read of a report, and of the returned message. */
const REPORT_BYTES = 128 * 1024;
const HEADER_BYTES = 64 * 1024;
const STATUS = /^message\/(?:global-)?delivery-status$/i;
const RETURNED = /^(?:message\/(?:rfc822|global|global-headers)|text\/rfc822-headers)$/i;

export const createFindBounces =
  ({ sent, outbox }: BounceDeps): FindBounces =>
  async ({ session, account }, news) => {
    const mails = new Map<string, BouncedMail>();
    for (const message of news) {
      const report = await reportIn(session, message);
      if (!report || report.failed.length === 0 || report.messageIds.length === 0) continue;
      const row = await sent.byMessageId(account, report.messageIds);
      if (row) mark(mails, { row, report, reportId: message.id });
    }
    const notices = [...mails.values()].map((mail) => bouncedMail(outbox, mail));
    const changes = [...mails.values()].map(({ row, recipients }) =>
      sent.change(row, {
        recipients: JSON.stringify(recipients),
        ...computeFinalStatus(row, recipients),
      }),
    );
    if (changes.length === 0) return EMPTY_POSTING;
    return {
      statements: [...changes, ...notices.flatMap(({ statements }) => statements)],
      published: () => {
        for (const { published } of notices) published();
      },
    };
  };

/** null if it is no report, or the server does not return it. */
const reportIn = async (
  session: ImapSession,
  { uid, attachments }: MailMessageRow,
): Promise<FailureReport | null> => {
  const files: MailFile[] = JSON.parse(attachments);
  const status = files.find(({ mediaType }) => STATUS.test(mediaType));
  if (!status) return null;
  const returned = files.find(({ mediaType }) => RETURNED.test(mediaType));
  const bodyParts = [{ key: status.part, start: 0, maxLength: REPORT_BYTES }];
  if (returned) bodyParts.push({ key: returned.part, start: 0, maxLength: HEADER_BYTES });
  const found = await session
    .fetchOne(`${uid}`, { uid: true, bodyParts }, { uid: true })
    .catch((error) => {
      if (isCommandRefused(error)) return false as const;
      throw error;
    });
  if (!found) return null;
  const textOf = (file: MailFile | undefined): string => {
    const content = file && found.bodyParts?.get(file.part);
    return file && content ? decodedPart(content, file) : '';
  };
  return parseFailureReport(textOf(status), textOf(returned));
};

/**
 * Only recipients for whom the message was or may have been accepted: only they know its
 * Message-ID.
 */
const mark = (
  mails: Map<string, BouncedMail>,
  { row, report, reportId }: { row: SentMailRow; report: FailureReport; reportId: string },
): void => {
  const { recipients, bounced } = mails.get(row.id) ?? {
    recipients: JSON.parse(row.recipients),
    bounced: [],
  };
  const replies = new Map(
    report.failed.flatMap(({ addresses, reply }) =>
      addresses.map((address): [string, string] => [address.toLowerCase(), reply]),
    ),
  );
  const after = recipients.map((recipient: SentRecipient): SentRecipient => {
    const reply = replies.get(recipient.address.toLowerCase());
    const isAccepted = recipient.status === 'sent' || recipient.status === 'unknown';
    return reply !== undefined && isAccepted
      ? { ...recipient, status: 'bounced', reply }
      : recipient;
  });
  const more = after.filter((one: SentRecipient, at: number) => one !== recipients[at]);
  if (more.length === 0) return;
  mails.set(row.id, { row, recipients: after, bounced: [...bounced, ...more], reportId });
};

/** `failed` if all recipients bounced. */
const computeFinalStatus = ({ finished_at }: SentMailRow, recipients: SentRecipient[]) => {
  if (finished_at === null) return {};
  const { status, error } = finalOutcome(recipients);
  return { status, error };
};
