import type { MailEventField } from '../../hooks/module.js';
import { estimateDecodedSize } from '../../providers/mail/structure.js';
import type { MailAddress, MailFile, MailMessageRow } from '../../store/tables/mail.js';

export interface MailText {
  text: string;
  isCut: boolean;
}

const MAX_RECIPIENTS = 1000;

/** Addresses in lower case, for conditions. Unknown authentication is null. */
export const buildMailEvent = (
  row: MailMessageRow,
  { text, isCut }: MailText,
): Record<MailEventField, unknown> => {
  const sender: MailAddress | null = row.sender === null ? null : JSON.parse(row.sender);
  const files: MailFile[] = JSON.parse(row.attachments);
  const found = row.authentication === null ? {} : JSON.parse(row.authentication);
  return {
    id: row.id,
    accountId: row.account_id,
    folder: row.folder,
    messageId: row.message_id,
    threadId: row.thread_id,
    from: sender?.address.toLowerCase() ?? null,
    fromName: sender?.name ?? null,
    to: addressesIn(row.recipients),
    cc: addressesIn(row.cc),
    subject: row.subject,
    date: row.date,
    text,
    isCut,
    automatic: row.automatic === 1,
    category: row.category,
    priority: row.priority,
    authentication: { spf: null, dkim: null, dmarc: null, ...found },
    attachments: files.map((file) => ({
      name: file.name,
      mediaType: file.mediaType,
      bytes: estimateDecodedSize(file),
    })),
  };
};

const addressesIn = (stored: string): string[] => {
  const all: MailAddress[] = JSON.parse(stored);
  return all.slice(0, MAX_RECIPIENTS).map(({ address }) => address.toLowerCase());
};
