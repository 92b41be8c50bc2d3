import { randomUUID } from 'node:crypto';
import Boom from '@hapi/boom';
import type { Queue } from '../../jobs/module.js';
import { withAsciiDomain } from '../../kernel/asciidomain.js';
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
import type { NewMail } from './contract.js';
import { MAX_RECIPIENTS } from './fields.js';
import { cancelledOutcome } from './outcome.js';
import type { SentMailStore } from './queries.js';
import { findOriginal, replySubject, threadHeaders } from './reply.js';

export type FindAttachment = (userId: string, id: string) => Promise<SentAttachment | null>;

export interface SendingDeps {
  clock: Clock;
  sent: SentMailStore;
  mailbox: { accounts: MailAccountsStore; messages: MailMessagesStore };
  findAttachment: FindAttachment;
  maySend(userId: string): Promise<boolean>;
  /** 0: no limit. */
  perHour: number;
  outgoing: Pick<Queue, 'added'>;
}

/**
 * The person whose call is audited, or the user of an agent or hook, whose calls are recorded
 * elsewhere.
 */
export type MailAuthor = Pick<Caller, 'userId'> &
  Partial<Recorder> & {
    /** For agents and hooks: how often the cause passed through this daemon. */
    hops?: number;
  };

interface MailToSend extends NewMail {
  replaces?: Statement;
}

const HOUR_MS = 3600_000;
/** Most servers accept 25 MiB in base64. */
const MAX_ATTACHMENT_BYTES = 18 * 1024 * 1024;

/** Throws 403 without the permission, 400 for invalid input, 429 beyond the limit. */
export const sendMail = async (
  deps: SendingDeps,
  { userId, record: recordOf, hops }: MailAuthor,
  { replaces, ...given }: MailToSend,
): Promise<SentMailRow> => {
  await refuseForbidden(deps, userId);
  const recipients = buildRecipients(given);
  const answered = await findOriginal(deps.mailbox.messages, userId, given.inReplyTo);
  const subject = given.subject ?? (answered && replySubject(answered));
  if (subject === null) throw badRequest([{ path: 'subject', message: 'is required' }]);
  const account = await accountFor(deps, userId, given.accountId ?? answered?.account_id);
  const attachments = await findAttachments(deps, userId, given.attachments ?? []);
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
 * Throws 409 while it is being sent and after it has ended. Recipients who received it are
 * unaffected.
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
    throw Boom.conflict(`Cannot cancel the e-mail, because the e-mail ${why}`, {
      code: 'not_waiting',
    });
  }
  const { status, error, recipients } = cancelledOutcome(JSON.parse(row.recipients));
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
  // An attempt may start or bounce meanwhile; then it is read again.
  if (!(await sent.cancel(row, changes, [by.record()]))) return cancelMail(deps, by, id);
  outgoing.added(row.account_id);
  return { ...row, ...changes };
};

const refuseForbidden = async ({ maySend }: SendingDeps, userId: string): Promise<void> => {
  if (await maySend(userId)) return;
  throw Boom.forbidden('You do not have the permission `email`. Ask an admin for the permission', {
    code: 'permission_missing',
  });
};

/** Each recipient once, at its first place. */
const buildRecipients = ({ to = [], cc = [], bcc = [] }: NewMail): SentRecipient[] => {
  const all = new Map<string, SentRecipient>();
  for (const [place, addresses] of Object.entries({ to, cc, bcc })) {
    for (const given of addresses) {
      const address = withAsciiDomain(given);
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

/** Throws 400 for a document that the user does not have. */
export const findAttachments = async (
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
  if (bytes <= MAX_ATTACHMENT_BYTES) return found;
  const message = `must not exceed ${MAX_ATTACHMENT_BYTES / 1024 ** 2} MiB in total`;
  throw badRequest([{ path: 'attachments', message }]);
};

/** Unguessable, since bounces are accepted by it. */
const messageIdFor = ({ address }: MailAccountRow): string =>
  `<${randomUUID()}@${address.slice(address.lastIndexOf('@') + 1)}>`;

/** Throws 429 beyond the hourly limit, 409 if the draft changed. */
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
    throw Boom.conflict(
      'The draft was changed or already sent. Get the draft again before you send it',
      { code: 'draft_changed' },
    );
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
