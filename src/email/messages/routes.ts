import { Readable } from 'node:stream';
import type { DocumentIntake } from '../../documents/module.js';
import { resource } from '../../kernel/route.js';
import { encodeDirections } from '../../providers/mail/safehtml.js';
import { type MailMessageDetail, mail } from './contract.js';
import { fetchAttachment, readAttachment, readMailBody } from './read.js';
import { findMail, listMail, type MailMessagesDeps } from './service.js';
import { viewMail } from './view.js';

export const mailResource = (
  deps: MailMessagesDeps,
  arrivals: Pick<DocumentIntake, 'keepOrThrow'>,
) =>
  resource('mail', mail, {
    list: async ({ query }, by) => {
      const page = await listMail(deps, by, query);
      return { messages: page.rows.map(viewMail), nextCursor: page.nextCursor };
    },
    get: async ({ id }, { userId, signal }): Promise<MailMessageDetail> => {
      const found = await findMail(deps, userId, id);
      const { row } = found;
      return {
        ...viewMail(row),
        replyTo: JSON.parse(row.reply_to),
        references: JSON.parse(row.refs),
        listUnsubscribe: row.list_unsubscribe && encodeDirections(row.list_unsubscribe),
        ...(await readMailBody(deps, found, signal)),
      };
    },
    attachment: (of, by) => readAttachment(deps, by, of),
    keep: async (of, by) => {
      const { name, content } = await fetchAttachment(deps, by, of);
      const file = { filename: name, content: Readable.from([content], { objectMode: false }) };
      const { id, name: filename, isKnown } = await arrivals.keepOrThrow(by.userId, file);
      return { documentId: id, filename, duplicate: isKnown };
    },
  });
