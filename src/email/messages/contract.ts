import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';

const Address = s.object('MailAddress', { name: s.anyText(500), address: s.anyText(500) });
const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);
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
  messageId: s
    .nullable(s.anyText(1000))
    .description('Message-ID header of the e-mail. `null` if the e-mail has none'),
  threadId: s.text(80).description('ID shared by all messages of a thread'),
  from: s.nullable(Address).description('Sender of the e-mail. `null` if the e-mail names none'),
  to: s.list(Address, 10_000),
  cc: s.list(Address, 10_000),
  subject: s.anyText(2000),
  date: s.time(),
  snippet: s.anyText(500),
  unread: s.boolean(),
  flagged: s.boolean(),
  attachments: s.list(
    s.object('MailFile', {
      name: s.text(300),
      mediaType: s.text(200),
      bytes: count().description(
        'Size of the file in bytes. Computed from the encoded size, so it may differ by a few bytes',
      ),
    }),
    200,
  ),
  attachmentsOmitted: count().description(
    'Number of attachments and other parts that are not in `attachments`: those after the 200th, and those nested more than 50 levels deep',
  ),
  category: category(),
  priority: s.integer(0, 3).description('Priority: 0 can wait, 1 normal, 2 soon, 3 urgent'),
  authentication: s.nullable(
    s
      .object('MailAuthentication', { spf: s.text(20), dkim: s.text(20), dmarc: s.text(20) })
      .description(
        'SPF, DKIM and DMARC results of the receiving server. `null` if there are no results. Treat `null` as a failed check',
      ),
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
    .description(
      'Sanitized HTML without remote content and without characters that change the text direction. The `title` attribute of each link contains the link target. `null` if there is no HTML, or the HTML is unavailable',
    ),
  isCut: s.boolean().description('Whether `text` or `html` is incomplete'),
  problem: s
    .nullable(s.anyText(1000))
    .description(
      'Reason why the full text is unavailable. `text` then contains only the stored beginning. `null` if the full text is available',
    ),
  listUnsubscribe: s
    .nullable(s.anyText(2000))
    .description(
      'Value of the `List-Unsubscribe` header. Adjutant never requests this address. `null` without the header',
    ),
});
export type MailMessageDetail = s.Static<typeof MailMessageDetail>;

const KeptAttachment = s.object('KeptAttachment', {
  documentId: s.id('document'),
  filename: s.text(300),
  duplicate: s.boolean().description('Whether the file duplicates an existing document'),
});

export const mail = contract({
  list: endpoint.get('/api/email/messages', {
    summary: 'List e-mails',
    query: pageQuery('MailMessageQuery', {
      accountId: s.optional(
        s.text(80).description('ID of a mail account. Defaults to all your mail accounts'),
      ),
      folder: s.optional(
        s
          .text(500)
          .description(
            'Folder to list. By default, the configured folders are updated, and the stored e-mails of all folders are listed',
          ),
      ),
      unread: s.optional(s.queryFlag().description('Whether the e-mails are unread')),
      from: s.optional(s.text(200).description('Part of the sender name or address')),
      q: s.optional(
        s.text(200).description('Search text. The mail server searches the whole message'),
      ),
      since: s.optional(s.moment().description('Start of the date range, inclusive')),
      until: s.optional(s.moment().description('End of the date range, exclusive')),
      hasAttachments: s.optional(s.queryFlag().description('Whether the e-mails have attachments')),
      thread: s.optional(s.text(80).description('ID of the thread, as in `threadId` of an e-mail')),
      category: s.optional(category()),
    }),
    reply: createPageSchema('messages', MailMessage, 'MailMessagesPage'),
  }),
  get: endpoint.get('/api/email/messages/{id}', {
    summary: 'Get an e-mail with its text',
    reply: MailMessageDetail,
  }),
  attachment: endpoint.get('/api/email/messages/{id}/attachments/{number}', {
    summary: 'Download an attachment of an e-mail',
    description: '`number` is the position in `attachments`, starting with 0.',
    produces: 'application/octet-stream',
  }),
  keep: endpoint.post('/api/email/messages/{id}/attachments/{number}/document', {
    summary: 'Create a document from an attachment',
    description: '`number` is the position in `attachments`, starting with 0.',
    reply: KeptAttachment,
    status: 201,
  }),
});
