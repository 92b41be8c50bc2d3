import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { NamedError } from '../../kernel/failure.js';
import { hopHeader } from '../../kernel/hops.js';
import { composeMail } from '../../providers/mail/compose.js';
import type {
  MailAccountRow,
  SentAttachment,
  SentMailRow,
  SentRecipient,
} from '../../store/tables/mail.js';

export interface MailFiles {
  open(userId: string, documentId: string): Promise<Readable | null>;
}

export class AttachmentGone extends NamedError {}

/** The same bytes in every attempt. Throws AttachmentGone. */
export const writeMail = async (
  files: MailFiles,
  row: SentMailRow,
  { address, name }: Pick<MailAccountRow, 'address' | 'name'>,
): Promise<Buffer> => {
  const recipients: SentRecipient[] = JSON.parse(row.recipients);
  const at = (place: SentRecipient['place']): string[] =>
    recipients.filter((one) => one.place === place).map((one) => one.address);
  const attachments: SentAttachment[] = JSON.parse(row.attachments);
  return composeMail({
    messageId: row.message_id,
    date: new Date(row.created_at),
    from: { name: name === address ? '' : name, address },
    to: at('to'),
    cc: at('cc'),
    subject: row.subject,
    headers: hopHeader(row.hops ?? 0),
    // No automatic replies to messages of hooks and agents.
    isAutomatic: row.hops !== null,
    text: row.text,
    ...(row.html !== null && { html: row.html }),
    ...(row.in_reply_to !== null && { inReplyTo: row.in_reply_to }),
    references: JSON.parse(row.refs),
    attachments: await Promise.all(
      attachments.map(async ({ documentId, name: filename, mediaType }) => ({
        filename,
        contentType: mediaType,
        content: await loadAttachment(files, row.user_id, { documentId, filename }),
      })),
    ),
  });
};

const loadAttachment = async (
  files: MailFiles,
  userId: string,
  { documentId, filename }: { documentId: string; filename: string },
): Promise<Buffer> => {
  const content = await files.open(userId, documentId);
  if (!content) throw new AttachmentGone(`the attached document ${filename} was deleted`);
  return buffer(content);
};
