import { resource } from '../../kernel/route.js';
import { outbox } from './contract.js';
import { type MessagesDeps, noticeMessages, resend, viewOutboundMessage } from './service.js';

export const outboxResource = (deps: MessagesDeps) =>
  resource('outbox', outbox, {
    list: async ({ query }) => {
      const { rows, nextCursor } = await deps.messages.list(query);
      return { sendings: rows.map(viewOutboundMessage), nextCursor };
    },
    resend: ({ id }, by) => resend(deps, id, by),
    notice: async ({ id }, by) => ({ sendings: await noticeMessages(deps, by.userId, id) }),
  });
