import { iso } from '../../kernel/clock.js';
import type { Store } from '../../store/store.js';
import type { SentMailRow, SentRecipient } from '../../store/tables/mail.js';
import { visibleTo } from '../../store/visible.js';
import type { Need } from './contract.js';

/** E-mails that were not sent, or may not have been, are shown for a day. */
const UNSENT_MS = 24 * 3_600_000;
const MAX_DETAIL_LENGTH = 1000;
const MAX_TITLE_LENGTH = 400;
const NO_SUBJECT = { agentId: null, hookId: null, untrusted: null };

const failingAccounts = (db: Store['db'], userId: string, limit: number) =>
  db
    .selectFrom('mail_accounts')
    .select(['id', 'address', 'status', 'error', 'updated_at'])
    .where(visibleTo(userId))
    .where('status', 'in', ['failing', 'needs_login'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

const unsentMails = (db: Store['db'], userId: string, since: number, limit: number) =>
  db
    .selectFrom('mail_sent')
    .select(['id', 'subject', 'status', 'error', 'recipients', 'created_at', 'finished_at'])
    .where(visibleTo(userId))
    .where('created_at', '>=', iso(since))
    .where((of) =>
      of.or([
        of('status', 'in', ['failed', 'unknown']),
        of('recipients', 'like', '%"status":"refused"%'),
        of('recipients', 'like', '%"status":"bounced"%'),
      ]),
    )
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();

const cut = (reason: string, command: string): string =>
  `${reason.slice(0, MAX_DETAIL_LENGTH - command.length - 2)}: ${command}`;

/** Failing mail accounts, then unsent or unconfirmed e-mails of the last day, newest first. */
export const mailNeeds = async (
  db: Store['db'],
  { userId, now, limit }: { userId: string; now: number; limit: number },
): Promise<Need[]> => {
  const [accounts, mails] = await Promise.all([
    failingAccounts(db, userId, limit),
    unsentMails(db, userId, now - UNSENT_MS, limit),
  ]);
  return [
    ...accounts.map(({ id, address, status, error, updated_at: at }) => ({
      ...NO_SUBJECT,
      kind: 'mailbox' as const,
      id,
      title: address,
      at,
      detail: cut(
        `${status === 'needs_login' ? 'the server refuses the login' : 'the account fails'}, ${error ?? 'no reason given'}`,
        `adjutant email accounts test ${id.slice(-6)}`,
      ),
    })),
    ...mails.map(({ id, subject, created_at: created, finished_at: ended, ...mail }) => ({
      ...NO_SUBJECT,
      kind: 'mail' as const,
      id,
      at: ended ?? created,
      title: (subject || '(no subject)').slice(0, MAX_TITLE_LENGTH),
      detail: cut(formatUnsent(mail), `adjutant email sent get ${id.slice(-6)}`),
    })),
  ];
};

const formatUnsent = ({
  status,
  error,
  recipients,
}: Pick<SentMailRow, 'status' | 'error' | 'recipients'>): string => {
  if (status === 'unknown')
    return 'the reply of the server was lost; the e-mail is not resent automatically';
  const all: SentRecipient[] = JSON.parse(recipients);
  const failed = all.filter((one) => one.status === 'refused' || one.status === 'bounced');
  const [first] = failed;
  const isPartial = first !== undefined && failed.length < all.length;
  const what = isPartial
    ? `not delivered to ${failed.length} of ${all.length} recipients`
    : 'not sent';
  return `${what}: ${(isPartial ? first.reply : error) ?? 'no reason given'}`;
};
