import { resource } from '../../kernel/route.js';
import { type MailDraftRow, mailDraftTable } from '../../store/tables/mail.js';
import { viewer } from '../../store/view.js';
import { MailDraft, maildrafts } from './contract.js';
import {
  addMailDraft,
  findMailDraft,
  type MailDraftsDeps,
  removeMailDraft,
  sendMailDraft,
  updateMailDraft,
} from './service.js';

const viewDraft: (row: MailDraftRow) => MailDraft = viewer(mailDraftTable, MailDraft, {});

export const mailDraftsResource = (deps: MailDraftsDeps) =>
  resource('maildrafts', maildrafts, {
    list: async ({ query }, { userId }) => {
      const page = await deps.drafts.list(userId, query);
      return { drafts: page.rows.map(viewDraft), nextCursor: page.nextCursor };
    },
    create: async ({ body }, by) => viewDraft(await addMailDraft(deps, by, body)),
    get: async ({ id }, { userId }) => viewDraft(await findMailDraft(deps, userId, id)),
    update: async ({ id, body }, by) =>
      viewDraft(await updateMailDraft(deps, by, { id, given: body })),
    delete: ({ id }, by) => removeMailDraft(deps, by, id),
    send: async ({ id, query }, by) => {
      const { id: sentId, status } = await sendMailDraft(deps, by, { id, seen: query.updatedAt });
      return { id: sentId, status };
    },
  });
