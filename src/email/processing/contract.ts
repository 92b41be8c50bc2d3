import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { Operation } from '../../kernel/contract/operation.js';
import * as s from '../../kernel/contract/schema.js';

const MailProcessing = s.object('MailProcessing', {
  accountId: s.optional(s.text(80).description('All your mail accounts unless given')),
  since: s.optional(
    s
      .moment()
      .description('Also what arrived before the account was made or its watch switched on'),
  ),
  folder: s.optional(s.text(500).description('The folders of the accounts, unless given')),
});
export type MailProcessing = s.Static<typeof MailProcessing>;

export const mailprocessing = contract({
  process: endpoint.post('/api/email/process', {
    summary: 'Process new e-mails, each once: sort them and run the hooks that they trigger',
    audit: 'email.process',
    unimpersonated: true,
    example: { folder: 'INBOX', since: '2026-01-31T09:00:00.000Z' },
    body: MailProcessing,
    reply: Operation,
    status: 202,
  }),
});
