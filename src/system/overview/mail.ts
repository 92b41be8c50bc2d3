import { iso } from '../../kernel/clock.js';
import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';
import type { Need } from './contract.js';

/** Ours: a mail that was not sent, or may not have been, needs its sender for a day. */
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

/**
 * Returns the mail accounts of a user that do not work, then the mails of the last day that were not
 * sent or whose answer was lost, the newest first.
 */
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
        `${status === 'needs_login' ? 'its server refuses the login' : 'it fails'}, ${error ?? 'no reason given'}`,
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
          ? 'the answer was lost, and it is not sent again by itself'
          : `not sent, ${error ?? 'no reason given'}`,
        `adjutant email sent get ${id.slice(-6)}`,
      ),
    })),
  ];
};
