import { estimateDecodedSize } from '../../providers/mail/structure.js';
import { type MailFile, type MailMessageRow, mailMessageTable } from '../../store/tables/mail.js';
import { viewer } from '../../store/view.js';
import { MailMessage } from './contract.js';

export const viewMail: (row: MailMessageRow) => MailMessage = viewer(
  mailMessageTable,
  MailMessage,
  {
    attachmentsOmitted: ({ parts }: MailMessageRow) => JSON.parse(parts).omitted ?? 0,
    from: ({ sender }: MailMessageRow) => (sender === null ? null : JSON.parse(sender)),
    to: ({ recipients }: MailMessageRow) => JSON.parse(recipients),
    attachments: (row: MailMessageRow) => {
      const files: MailFile[] = JSON.parse(row.attachments);
      return files.map((file) => ({
        name: file.name,
        mediaType: file.mediaType,
        bytes: estimateDecodedSize(file),
      }));
    },
  },
);
