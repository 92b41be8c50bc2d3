import { iso } from '../../kernel/clock.js';
import type { Store } from '../../store/store.js';
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
    .select(['id', 'subject', 'status', 'error', 'created_at', 'finished_at'])
    .where(visibleTo(userId))
    .where('created_at', '>=', iso(since))
    .where('status', 'in', ['failed', 'unknown'])
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
    ...mails.map(({ id, subject, status, error, created_at: created, finished_at: ended }) => ({
      ...NO_SUBJECT,
      kind: 'mail' as const,
      id,
      at: ended ?? created,
      title: (subject || '(no subject)').slice(0, MAX_TITLE_LENGTH),
      detail: cut(
        status === 'unknown'
          ? 'the reply of the server was lost; the e-mail is not resent automatically'
          : `not sent: ${error ?? 'no reason given'}`,
        `adjutant email sent get ${id.slice(-6)}`,
      ),
    })),
  ];
};
