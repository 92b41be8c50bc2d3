import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';
import { mailFields, SentMailBegun } from '../sending/fields.js';

const given = () => {
  const { subject, text, ...rest } = mailFields();
  return { ...rest, subject: s.optional(subject.allow('')), text: s.optional(text) };
};

const NewMailDraft = s.object('NewMailDraft', given());
export type NewMailDraft = s.Static<typeof NewMailDraft>;

const { accountId, html, inReplyTo, ...rest } = given();
const MailDraftChanges = s
  .ignoring(
    s.object('MailDraftChanges', {
      ...rest,
      accountId: s.optional(s.nullable(accountId)),
      html: s.optional(s.nullable(html)),
      inReplyTo: s.optional(s.nullable(inReplyTo)),
    }),
    ...['id', 'untrusted', 'createdAt', 'updatedAt'],
  )
  .min(1);
export type MailDraftChanges = s.Static<typeof MailDraftChanges>;

export const MailDraft = s.object('MailDraft', {
  id: s.id('maildraft'),
  accountId: s.nullable(s.id('mailaccount')).description('null: as when it is sent'),
  to: s.list(s.text(320), 100),
  cc: s.list(s.text(320), 100),
  bcc: s.list(s.text(320), 100),
  subject: s.anyText(998),
  text: s.anyText(1_000_000),
  html: s.nullable(s.anyText(1_000_000)),
  inReplyTo: s.nullable(s.id('mail')).description('The e-mail that it answers'),
  attachments: s.list(s.id('document'), 20),
  untrusted: s.flag().description('An agent that has read text from outside has written it'),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type MailDraft = s.Static<typeof MailDraft>;

export const maildrafts = contract({
  list: endpoint.get('/api/email/drafts', {
    summary: 'List your drafts of e-mails, newest first',
    query: pageQuery('MailDraftQuery', {}),
    reply: pageOf('drafts', MailDraft),
  }),
  create: endpoint.post('/api/email/drafts', {
    summary:
      'Keep a draft of an e-mail; nothing is sent. An answer has the recipient and the subject of one',
    example: { to: ['bob@example.org'], subject: 'The report', text: 'It is nearly done.' },
    body: NewMailDraft,
    reply: MailDraft,
    status: 201,
    audit: 'maildrafts.create',
  }),
  get: endpoint.get('/api/email/drafts/{id}', { summary: 'Show a draft', reply: MailDraft }),
  update: endpoint.patch('/api/email/drafts/{id}', {
    summary: 'Change a draft: what is given; the rest stays',
    example: { text: 'It is done.' },
    body: MailDraftChanges,
    reply: MailDraft,
    audit: 'maildrafts.update',
  }),
  delete: endpoint.delete('/api/email/drafts/{id}', {
    summary: 'Delete a draft',
    audit: 'maildrafts.delete',
  }),
  send: endpoint.post('/api/email/drafts/{id}/send', {
    summary: 'Send a draft, once; it is a draft no more. Needs the permission email',
    query: s.object('MailDraftSeen', {
      updatedAt: s.optional(
        s.time().description('That of the draft as it was shown: 409 if it has changed since'),
      ),
    }),
    reply: SentMailBegun,
    status: 202,
    audit: 'maildrafts.send',
    unimpersonated: true,
  }),
});
