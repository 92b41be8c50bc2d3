import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { Operation } from '../../kernel/contract/operation.js';
import * as s from '../../kernel/contract/schema.js';

const MailProcessing = s.object('MailProcessing', {
  accountId: s.optional(
    s
      .text(80)
      .description(
        'ID of the mail account whose e-mails are processed. Defaults to all your mail accounts',
      ),
  ),
  since: s.optional(
    s
      .moment()
      .description(
        'Start of the arrival time range, inclusive. Defaults to the time at which the account was ' +
          'created or `watch` was last enabled, but at most `syncDays` ago. An earlier time ' +
          'includes older messages',
      ),
  ),
  folder: s.optional(
    s
      .text(500)
      .description('Folder to process. Defaults to the configured folders of the accounts'),
  ),
});
export type MailProcessing = s.Static<typeof MailProcessing>;

export const mailprocessing = contract({
  process: endpoint.post('/api/email/process', {
    summary: 'Process new e-mails: download, classify and run hooks',
    description:
      'Downloads the new e-mails from the mail server, assigns a category and a priority to each e-mail, and runs the hooks with the trigger `email`. An e-mail that was processed before is skipped.',
    audit: 'email.process',
    unimpersonated: true,
    example: { folder: 'INBOX', since: '2026-01-31T09:00:00.000Z' },
    body: MailProcessing,
    reply: Operation,
    status: 202,
  }),
});
