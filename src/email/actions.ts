import { isBoom } from '@hapi/boom';
import { type EmailActions, type ToolMail, ToolRefused } from '../tools/module.js';
import { addToolDraft, type MailDraftsDeps } from './drafts/service.js';
import type { MailMessage } from './messages/contract.js';
import { readMailBody } from './messages/read.js';
import { findMail, listMail, type MailMessagesDeps } from './messages/service.js';
import { viewMail } from './messages/view.js';
import { sendMail } from './sending/service.js';

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
  draft: async (by, input) => {
    const { id } = await toToolRefusal(addToolDraft(drafts, by, input));
    return { id };
  },
  send: async ({ userId, hops }, mail) => {
    const by = { userId, ...(hops !== undefined && { hops }) };
    const { id, status } = await toToolRefusal(sendMail(drafts.sending, by, mail));
    return { id, status };
  },
});

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
