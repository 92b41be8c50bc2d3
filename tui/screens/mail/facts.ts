import { describeDelivery, describeRecipient, placeName } from '../../../cli/email/delivery.js';
import type {
  MailAccount,
  MailDraft,
  MailMessage,
  MailMessageDetail,
  SentMail,
} from '../../../src/client/index.js';
import { formatOmittedParts } from '../../../src/kernel/omittedparts.js';
import { formatAge, timeOfEvent } from '../../parts/times.js';

type MailFacts = [string, string][];
type MailSender = MailMessage['from'];

const URGENCY = ['low', '', 'high', 'urgent'];

/** Priority in words. Empty for the usual one. */
export const formatUrgency = ({ priority }: MailMessage): string => URGENCY[priority] ?? '';

/** Name with the address, because an address is harder to forge. */
export const mailSender = (from: MailSender): string => {
  if (from === null) return '-';
  return from.name === '' ? from.address : `${from.name} <${from.address}>`;
};

const addresses = (all: MailMessage['to']): string => all.map(mailSender).join(', ');

const formatKibibytes = (bytes: number): string =>
  bytes < 1024 ? `${bytes} B` : `${Math.ceil(bytes / 1024).toLocaleString('en')} KiB`;

const formatAuthentication = ({ authentication }: MailMessage): string =>
  authentication === null
    ? 'not verified: the mail server reported no result'
    : `spf ${authentication.spf}, dkim ${authentication.dkim}, dmarc ${authentication.dmarc}`;

const withoutEmpty = (facts: MailFacts): MailFacts => facts.filter(([, value]) => value !== '');

export const mailFacts = (mail: MailMessage, now: number): MailFacts =>
  withoutEmpty([
    ['From', mailSender(mail.from)],
    ['To', addresses(mail.to)],
    ['Cc', addresses(mail.cc)],
    ['Date', timeOfEvent(mail.date, now)],
    ['Folder', mail.folder],
    ['Sender', formatAuthentication(mail)],
    ['Category', [mail.category, formatUrgency(mail)].filter(Boolean).join(', ')],
    ...mail.attachments.map(({ name, mediaType, bytes }, at): [string, string] => [
      `File ${at}`,
      `${name} (${mediaType}, ${formatKibibytes(bytes)})`,
    ]),
    ['Omitted', formatOmittedParts(mail)],
  ]);

/** Facts that only the whole e-mail has. */
export const mailMore = ({
  replyTo,
  listUnsubscribe,
  isCut,
  problem,
}: MailMessageDetail): MailFacts =>
  withoutEmpty([
    ['Reply to', addresses(replyTo)],
    ['Unsubscribe', listUnsubscribe ?? ''],
    ['Problem', problem === null ? '' : `only the stored beginning is shown: ${problem}`],
    ['Cut', isCut && problem === null ? 'the message is longer than shown' : ''],
  ]);

export const draftFacts = ({ to, cc, bcc, attachments, html, untrusted }: MailDraft): MailFacts =>
  withoutEmpty([
    ['To', to.join(', ') || 'nobody yet'],
    ['Cc', cc.join(', ')],
    ['Bcc', bcc.join(', ')],
    ['Files', attachments.join(', ')],
    ['HTML', html === null ? '' : 'has an HTML version, not shown here'],
    ['Trust', untrusted ? 'untrusted: an agent wrote the draft after reading external text' : ''],
  ]);

export const formatMailSubject = ({ subject }: { subject: string }): string =>
  subject || '(no subject)';

export const sentFacts = (mail: SentMail, now: number): MailFacts =>
  withoutEmpty([
    ['Status', describeDelivery(mail)],
    ...mail.recipients.map((one): [string, string] => [placeName(one), describeRecipient(one)]),
    ['Sent', timeOfEvent(mail.createdAt, now)],
    ['Files', mail.attachments.map(({ name }) => name).join(', ')],
    ['Attempts', String(mail.attempts)],
    ['Next try', mail.nextAt === null ? '' : timeOfEvent(mail.nextAt, now)],
    ['Copy', mail.copy === 'none' ? '' : mail.copy],
    ['Error', mail.error ?? ''],
  ]);

const formatMailServer = ({ host, port, tls }: MailAccount['imap']): string =>
  `${host}:${port}, ${tls}`;

export const accountFacts = (account: MailAccount, now: number): MailFacts =>
  withoutEmpty([
    ['Name', account.name],
    ['IMAP', formatMailServer(account.imap)],
    ['SMTP', formatMailServer(account.smtp)],
    ['Login', `${account.username}, ${account.auth}`],
    ['Folders', account.folders.join(', ')],
    ['Watched', account.watch ? 'new mail is processed on arrival' : 'no'],
    [
      'Last read',
      account.lastSyncAt === null ? 'never' : `${formatAge(account.lastSyncAt, now)} ago`,
    ],
    ['Authserv-id', account.authservId ?? 'unknown: a test finds it'],
    ['Error', account.error ?? ''],
  ]);
