import { orNotFound, resource } from '../../kernel/route.js';
import { type SentMailRow, sentMailTable } from '../../store/tables/mail.js';
import { viewer } from '../../store/view.js';
import { SentMail, SentMailDetail, sentmail } from './contract.js';
import { cancelMail, type SendingDeps, sendMail } from './service.js';

const viewSent: (row: SentMailRow) => SentMail = viewer(sentMailTable, SentMail, {});
const viewSentDetail: (row: SentMailRow) => SentMailDetail = viewer(
  sentMailTable,
  SentMailDetail,
  {},
);

export const sendingResource = (deps: SendingDeps) =>
  resource('sentmail', sentmail, {
    send: async ({ body }, by) => {
      const { id, status } = await sendMail(deps, by, body);
      return { id, status };
    },
    list: async ({ query }, { userId }) => {
      const page = await deps.sent.list(userId, query);
      return { sent: page.rows.map(viewSent), nextCursor: page.nextCursor };
    },
    get: async ({ id }, { userId }) =>
      viewSentDetail(orNotFound(await deps.sent.get(userId, id), 'Sent e-mail not found')),
    cancel: async ({ id }, by) => viewSentDetail(await cancelMail(deps, by, id)),
  });
