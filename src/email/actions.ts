import { isBoom } from '@hapi/boom';
import { type EmailActions, type ToolMail, ToolRefused } from '../tools/module.js';
import { MAX_MAIL_ACCOUNTS } from './accounts/queries.js';
import { addToolDraft, type MailDraftsDeps } from './drafts/service.js';
import type { MailMessage } from './messages/contract.js';
import { readMailBody } from './messages/read.js';
import { findMail, listMail, type MailMessagesDeps } from './messages/service.js';
import { viewMail } from './messages/view.js';
import { describeMail } from './sending/describe.js';
import { type SendingDeps, sendMail } from './sending/service.js';

interface EmailActionDeps {
  messages: MailMessagesDeps;
  drafts: MailDraftsDeps;
}

export const emailActions = ({ messages, drafts }: EmailActionDeps): EmailActions => ({
  search: async (userId, query, signal) => {
    const { rows } = await toToolRefusal(listMail(messages, { userId, signal }, query));
    return rows.map((row) => toolMail(viewMail(row)));
  },
  read: (userId, id, signal) =>
    toToolRefusal(
      findMail(messages, userId, id).then(async (found) => {
        const { text, problem } = await readMailBody(messages, found, signal);
        return { mail: toolMail(viewMail(found.row)), text, problem };
      }),
    ),
  draft: async (by, { from, ...input }) => {
    const account = from === undefined ? {} : await accountAt(drafts.sending, by.userId, from);
    const { id } = await toToolRefusal(addToolDraft(drafts, by, { ...input, ...account }));
    return { id };
  },
  send: async ({ userId, hops }, mail) => {
    const by = { userId, ...(hops !== undefined && { hops }) };
    const given = await withAccount(drafts.sending, userId, mail);
    const { id, status } = await toToolRefusal(sendMail(drafts.sending, by, given));
    return { id, status };
  },
  describe: async (userId, mail) =>
    toToolRefusal(
      describeMail(drafts.sending, userId, await withAccount(drafts.sending, userId, mail)),
    ),
});

/** Agents know addresses of mailboxes, not the ids of their accounts. */
const withAccount = async <T extends { from?: string | undefined; inReplyTo?: string | undefined }>(
  sending: SendingDeps,
  userId: string,
  { from, ...mail }: T,
) =>
  from === undefined && mail.inReplyTo !== undefined
    ? mail
    : { ...mail, ...(await accountAt(sending, userId, from)) };

/** Throws ToolRefused, with the addresses to choose from. */
const accountAt = async (
  { mailbox: { accounts } }: SendingDeps,
  userId: string,
  from: string | undefined,
): Promise<{ accountId?: string }> => {
  const { rows } = await accounts.list(userId, { limit: MAX_MAIL_ACCOUNTS });
  if (from === undefined && rows.length < 2) return {};
  const found = rows.find(({ address }) => address.toLowerCase() === from?.toLowerCase());
  if (found) return { accountId: found.id };
  const addresses = rows.map(({ address }) => address).join(', ');
  throw new ToolRefused(
    from === undefined
      ? `from is required, because the owner has several mailboxes: ${addresses}`
      : `from must be the address of a mailbox of the owner: ${addresses || 'there is none'}`,
  );
};

const toolMail = (mail: MailMessage): ToolMail => {
  const { from, to, ...rest } = mail;
  return {
    id: rest.id,
    folder: rest.folder,
    from: from?.address ?? null,
    to: to.map(({ address }) => address),
    subject: rest.subject,
    date: rest.date,
    snippet: rest.snippet,
    unread: rest.unread,
    category: rest.category,
    attachments: rest.attachments,
    attachmentsOmitted: rest.attachmentsOmitted,
    authentication: rest.authentication,
  };
};

const toToolRefusal = async <T>(verb: Promise<T>): Promise<T> => {
  try {
    return await verb;
  } catch (error) {
    if (isBoom(error)) throw new ToolRefused(error.message);
    throw error;
  }
};
