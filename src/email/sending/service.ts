import { randomUUID } from 'node:crypto';
import Boom from '@hapi/boom';
import type { Queue } from '../../jobs/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import { badRequest, orNotFound } from '../../kernel/route.js';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import type {
  MailAccountRow,
  SentAttachment,
  SentMailRow,
  SentRecipient,
} from '../../store/tables/mail.js';
import type { MailAccountsStore } from '../accounts/queries.js';
import type { MailMessagesStore } from '../messages/queries.js';
import { answerSubject, findAnswered, threadHeaders } from './answer.js';
import type { NewMail } from './contract.js';
import { MAX_RECIPIENTS } from './fields.js';
import { cancelledAs } from './outcome.js';
import type { SentMailStore } from './queries.js';

/** Finds a document of a user that may go with a message; null: there is none. */
export type FindAttachment = (userId: string, id: string) => Promise<SentAttachment | null>;

export interface SendingDeps {
  clock: Clock;
  sent: SentMailStore;
  /** The accounts, and the messages that are answered. */
  mailbox: { accounts: MailAccountsStore; messages: MailMessagesStore };
  findAttachment: FindAttachment;
  /** True if the user has the permission to send e-mail. */
  maySend(userId: string): Promise<boolean>;
  /** The most messages of a user in an hour; 0: no limit. */
  perHour: number;
  outgoing: Pick<Queue, 'added'>;
}

/** The person whose call is audited, or the user of an agent or a hook, whose calls are on record. */
export type MailAuthor = Pick<Caller, 'userId'> &
  Partial<Recorder> & {
    /** Set for an agent or a hook: how often the cause of its call came back to this daemon. */
    hops?: number;
  };

/** An e-mail, and the statement that removes the draft that it was. */
interface MailToSend extends NewMail {
  replaces?: Statement;
}

const HOUR_MS = 3600_000;
/** Ours: the most bytes of the files of a message, since most servers take 25 MiB of it in base64. */
const LARGEST = 18 * 1024 * 1024;

/**
 * Stores an e-mail, which is then sent. Replies with 403 without the permission, with 400 for what
 * cannot be sent, and with 429 beyond the limit.
 */
export const sendMail = async (
  deps: SendingDeps,
  { userId, record: recordOf, hops }: MailAuthor,
  { replaces, ...given }: MailToSend,
): Promise<SentMailRow> => {
  await refuseForbidden(deps, userId);
  const recipients = recipientsOf(given);
  const answered = await findAnswered(deps.mailbox.messages, userId, given.inReplyTo);
  const subject = given.subject ?? (answered && answerSubject(answered));
  if (subject === null) throw badRequest([{ path: 'subject', message: 'is required' }]);
  const account = await accountFor(deps, userId, given.accountId ?? answered?.account_id);
  const attachments = await attachmentsOf(deps, userId, given.attachments ?? []);
  const now = deps.clock.now();
  const row: SentMailRow = {
    id: mint('sentmail', now),
    user_id: userId,
    account_id: account.id,
    message_id: messageIdFor(account),
    recipients: JSON.stringify(recipients),
    subject,
    text: given.text,
    html: given.html ?? null,
    ...threadHeaders(answered),
    attachments: JSON.stringify(attachments),
    status: 'queued',
    attempts: 0,
    next_at: iso(now),
    error: null,
    copy: 'none',
    created_at: iso(now),
    finished_at: null,
    hops: hops ?? null,
  };
  const count = recipients.length;
  const records = recordOf?.({ target: row.id, data: { accountId: account.id, count } });
  await insertMail(deps, row, [...(replaces ? [replaces] : []), ...(records ? [records] : [])]);
  deps.outgoing.added(row.account_id);
  return row;
};

/**
 * Cancels an e-mail that waits, and returns it. What recipients have got already stays so. Replies
 * with 409 while it is on its way, since nobody can call it back, and after it has ended.
 */
export const cancelMail = async (
  deps: SendingDeps,
  by: Pick<Caller, 'userId'> & Recorder,
  id: string,
): Promise<SentMailRow> => {
  const { clock, sent, mailbox, outgoing } = deps;
  const { userId } = by;
  const row = orNotFound(await sent.get(userId, id), 'Sent e-mail not found');
  if (row.status !== 'queued') {
    const why = row.status === 'sending' ? 'is being sent' : `is not queued (status ${row.status})`;
    throw Boom.conflict(`Cannot cancel: the e-mail ${why}`, { code: 'not_waiting' });
  }
  const { status, error, recipients } = cancelledAs(JSON.parse(row.recipients));
  const account = await mailbox.accounts.get(userId, row.account_id);
  const isCopied = status === 'sent' && account?.save_sent === 1;
  const changes = {
    status,
    error,
    recipients: JSON.stringify(recipients),
    next_at: null,
    finished_at: iso(clock.now()),
    copy: isCopied ? ('wanted' as const) : row.copy,
  };
  // An attempt may begin or bounce meanwhile; then it is read anew.
  if (!(await sent.cancel(row, changes, [by.record()]))) return cancelMail(deps, by, id);
  outgoing.added(row.account_id);
  return { ...row, ...changes };
};

const refuseForbidden = async ({ maySend }: SendingDeps, userId: string): Promise<void> => {
  if (await maySend(userId)) return;
  throw Boom.forbidden('You do not have the permission email. An admin can grant it', {
    code: 'permission_missing',
  });
};

/** Returns each recipient once, where it was named first. */
const recipientsOf = ({ to = [], cc = [], bcc = [] }: NewMail): SentRecipient[] => {
  const all = new Map<string, SentRecipient>();
  for (const [place, addresses] of Object.entries({ to, cc, bcc })) {
    for (const address of addresses) {
      const key = address.toLowerCase();
      const isPlace = place === 'to' || place === 'cc' ? place : 'bcc';
      if (!all.has(key)) all.set(key, { address, place: isPlace, status: 'queued', reply: null });
    }
  }
  if (all.size === 0)
    throw badRequest([{ path: 'to', message: 'must contain at least one recipient' }]);
  if (all.size <= MAX_RECIPIENTS) return [...all.values()];
  const message = `must have at most ${MAX_RECIPIENTS} addresses, including cc and bcc`;
  throw badRequest([{ path: 'to', message }]);
};

/** Finds the account that sends: the one that is named, or the only one. */
export const accountFor = async (
  { mailbox: { accounts } }: SendingDeps,
  userId: string,
  id: string | undefined,
): Promise<MailAccountRow> => {
  if (id !== undefined) {
    const found = await accounts.get(userId, id);
    if (found) return found;
    throw badRequest([{ path: 'accountId', message: 'does not match any of your mail accounts' }]);
  }
  const [first, second] = (await accounts.list(userId, { limit: 2 })).rows;
  if (!first) {
    throw Boom.conflict(
      'You have no mail account. Create one with: adjutant email setup <address>',
      {
        code: 'no_mail_account',
      },
    );
  }
  if (!second) return first;
  throw badRequest([
    { path: 'accountId', message: 'is required because you have several mail accounts' },
  ]);
};

/** Finds the documents that go with a message. Replies with 400 for one that the user does not have. */
export const attachmentsOf = async (
  { findAttachment }: SendingDeps,
  userId: string,
  ids: string[],
): Promise<SentAttachment[]> => {
  const found: SentAttachment[] = [];
  for (const [at, id] of ids.entries()) {
    const attachment = await findAttachment(userId, id);
    if (!attachment) {
      throw badRequest([
        { path: `attachments.${at}`, message: 'does not match any of your documents' },
      ]);
    }
    found.push(attachment);
  }
  const bytes = found.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes <= LARGEST) return found;
  const message = `must not exceed ${LARGEST / 1024 ** 2} MiB in total`;
  throw badRequest([{ path: 'attachments', message }]);
};

/** Returns an id that nobody can guess, since bounces are believed by it. */
const messageIdFor = ({ address }: MailAccountRow): string =>
  `<${randomUUID()}@${address.slice(address.lastIndexOf('@') + 1)}>`;

/**
 * Stores a message, with its job if it is queued. Replies with 429 beyond the limit of an hour, and with
 * 409 if its draft has changed.
 */
export const insertMail = async (
  { sent, clock, perHour }: SendingDeps,
  row: SentMailRow,
  also: TransactionStep[],
): Promise<void> => {
  const since = iso(clock.now() - HOUR_MS);
  const most = perHour === 0 ? Number.MAX_SAFE_INTEGER : perHour;
  const unmet = await sent.insert(row, { since, most }, also);
  if (unmet === null) return;
  if (unmet === 'draft') {
    throw Boom.conflict('The draft has been changed or sent', { code: 'draft_changed' });
  }
  const oldest = await sent.oldestSince(row.user_id, since);
  const freeAt = oldest === undefined ? clock.now() : Date.parse(oldest) + HOUR_MS;
  const retryAfter = Math.max(1, Math.ceil((freeAt - clock.now()) / 1000));
  throw Boom.tooManyRequests(
    `Limit of ${perHour} e-mails per hour reached. Try again in ${retryAfter} s`,
    {
      code: 'too_many_mails',
      retryAfter,
    },
  );
};
