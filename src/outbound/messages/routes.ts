import { resource } from '../../kernel/route.js';
import { outbox } from './contract.js';
import { type MessagesDeps, noticeSendings, resend, viewSending } from './service.js';

export const outboxResource = (deps: MessagesDeps) =>
  resource('outbox', outbox, {
    list: async ({ query }) => {
      const { rows, nextCursor } = await deps.sendings.list(query);
      return { sendings: rows.map(viewSending), nextCursor };
    },
    resend: ({ id }, by) => resend(deps, id, by),
    notice: async ({ id }, by) => ({ sendings: await noticeSendings(deps, by.userId, id) }),
  });
