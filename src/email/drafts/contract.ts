import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';
import { mailFields, SentMailBegun } from '../sending/fields.js';

const draftFields = () => {
  const { subject, text, ...rest } = mailFields();
  return {
    ...rest,
    subject: s
      .optional(subject.allow(''))
      .description('Subject. For a new reply, defaults to `Re:` and the original subject'),
    text: s.optional(text),
  };
};

const NewMailDraft = s.object('NewMailDraft', draftFields());
export type NewMailDraft = s.Static<typeof NewMailDraft>;

const { accountId, html, inReplyTo, subject, ...rest } = draftFields();
const MailDraftChanges = s
  .ignoreReadOnly(
    s.object('MailDraftChanges', {
      ...rest,
      subject: subject.description('Subject. Unchanged if omitted'),
      accountId: s.optional(
        s
          .nullable(accountId)
          .description(
            'ID of the mail account to send from. `null` selects the account when the draft is sent',
          ),
      ),
      html: s.optional(
        s.nullable(html).description('HTML version of the text. `null` removes the HTML version'),
      ),
      inReplyTo: s.optional(
        s
          .nullable(inReplyTo)
          .description('ID of the message to reply to. `null` removes the reference'),
      ),
    }),
    ...['id', 'untrusted', 'createdAt', 'updatedAt'],
  )
  .min(1);
export type MailDraftChanges = s.Static<typeof MailDraftChanges>;

export const MailDraft = s.object('MailDraft', {
  id: s.id('maildraft'),
  accountId: s
    .nullable(s.id('mailaccount'))
    .description(
      'ID of the mail account that sends the draft. `null` selects the account when the draft is sent',
    ),
  to: s.list(s.text(320), 100),
  cc: s.list(s.text(320), 100),
  bcc: s.list(s.text(320), 100),
  subject: s.anyText(998),
  text: s.anyText(1_000_000),
  html: s
    .nullable(s.anyText(1_000_000))
    .description('Text in HTML format. `null` if there is none'),
  inReplyTo: s
    .nullable(s.id('mail'))
    .description('ID of the message that the draft replies to. `null` if the draft is not a reply'),
  attachments: s.list(s.id('document'), 20),
  untrusted: s
    .boolean()
    .description(
      'Whether a hook, or an agent or pipeline run that has read content from outside, such as a web page, wrote the draft',
    ),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type MailDraft = s.Static<typeof MailDraft>;

export const maildrafts = contract({
  list: endpoint.get('/api/email/drafts', {
    summary: 'List e-mail drafts',
    query: pageQuery('MailDraftQuery', {}),
    reply: createPageSchema('drafts', MailDraft),
  }),
  create: endpoint.post('/api/email/drafts', {
    summary: 'Create an e-mail draft',
    example: { to: ['bob@example.org'], subject: 'The report', text: 'It is nearly done.' },
    body: NewMailDraft,
    reply: MailDraft,
    status: 201,
    audit: 'maildrafts.create',
  }),
  get: endpoint.get('/api/email/drafts/{id}', { summary: 'Get an e-mail draft', reply: MailDraft }),
  update: endpoint.patch('/api/email/drafts/{id}', {
    summary: 'Update an e-mail draft',
    example: { text: 'It is done.' },
    body: MailDraftChanges,
    reply: MailDraft,
    audit: 'maildrafts.update',
  }),
  delete: endpoint.delete('/api/email/drafts/{id}', {
    summary: 'Delete an e-mail draft',
    audit: 'maildrafts.delete',
  }),
  send: endpoint.post('/api/email/drafts/{id}/send', {
    summary: 'Send an e-mail draft',
    query: s.object('MailDraftSeen', {
      updatedAt: s.optional(
        s
          .time()
          .description(
            'Value of `updatedAt` that you last read. The request fails with 409 if the draft has changed since',
          ),
      ),
    }),
    reply: SentMailBegun,
    status: 202,
    audit: 'maildrafts.send',
    unimpersonated: true,
  }),
});
