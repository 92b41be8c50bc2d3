import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const Address = s.object('MailAddress', { name: s.anyText(500), address: s.anyText(500) });
const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const category = () =>
  s.oneOf(
    'MailCategory',
    ...(['personal', 'work', 'newsletter', 'notification'] as const),
    ...(['invoice', 'event', 'spam', 'other'] as const),
  );

const fields = {
  id: s.id('mail'),
  accountId: s.id('mailaccount'),
  folder: s.text(500),
  messageId: s.nullable(s.anyText(1000)),
  threadId: s.text(80),
  from: s.nullable(Address),
  to: s.list(Address, 10_000),
  cc: s.list(Address, 10_000),
  subject: s.anyText(2000),
  date: s.time(),
  snippet: s.anyText(500),
  unread: s.flag(),
  flagged: s.flag(),
  attachments: s.list(
    s.object('MailFile', { name: s.text(300), mediaType: s.text(200), bytes: count() }),
    200,
  ),
  category: category(),
  priority: s.whole(0, 3),
  authentication: s.nullable(
    s
      .object('MailAuthentication', { spf: s.text(20), dkim: s.text(20), dmarc: s.text(20) })
      .description('As the receiving server of the account wrote it; null never counts as a pass'),
  ),
};

export const MailMessage = s.object('MailMessage', fields);
export type MailMessage = s.Static<typeof MailMessage>;

export const MailMessageDetail = s.object('MailMessageDetail', {
  ...fields,
  replyTo: s.list(Address, 100),
  references: s.list(s.anyText(1000), 1000),
  text: s.anyText(2_000_000),
  html: s
    .nullable(s.anyText(2_000_000))
    .description('Made safe to show: nothing in it is fetched, and its links say where they lead'),
  isCut: s.flag().description('The text is longer than what is shown'),
  problem: s
    .nullable(s.anyText(1000))
    .description('Why the server gives no text; what is shown is the beginning that was kept'),
  listUnsubscribe: s.nullable(s.anyText(2000)).description('Shown, and never called'),
});
export type MailMessageDetail = s.Static<typeof MailMessageDetail>;

const KeptAttachment = s.object('KeptAttachment', {
  documentId: s.id('document'),
  filename: s.text(300),
  duplicate: s.flag().description('You had that very file already'),
});

export const mail = contract({
  list: endpoint.get('/api/email/messages', {
    summary: 'E-mails, newest first; nothing is changed at the server, no flag either',
    query: pageQuery('MailMessageQuery', {
      accountId: s.optional(s.text(80)),
      folder: s.optional(s.text(500).description('Of the folders of the accounts, unless given')),
      unread: s.optional(s.queryFlag()),
      from: s.optional(s.text(200).description('A part of the name or the address')),
      q: s.optional(s.text(200).description('Searched by the server, in the whole message')),
      since: s.optional(s.moment()),
      until: s.optional(s.moment()),
      hasAttachments: s.optional(s.queryFlag()),
      thread: s.optional(s.text(80).description('A `threadId`')),
      category: s.optional(category()),
    }),
    reply: pageOf('messages', MailMessage, 'MailMessagesPage'),
  }),
  get: endpoint.get('/api/email/messages/{id}', {
    summary: 'Show an e-mail: its text, and its HTML made safe',
    reply: MailMessageDetail,
  }),
  attachment: endpoint.get('/api/email/messages/{id}/attachments/{number}', {
    summary: 'A file of an e-mail, by its number from 0',
    produces: 'application/octet-stream',
  }),
  keep: endpoint.post('/api/email/messages/{id}/attachments/{number}/document', {
    summary: 'Keep a file of an e-mail as a document, once for each content',
    reply: KeptAttachment,
    status: 201,
  }),
});
