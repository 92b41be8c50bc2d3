import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../../kernel/contract/page.js';
import * as s from '../../kernel/contract/schema.js';
import {
  MAX_FILES,
  MAX_RECIPIENTS,
  MAX_TEXT_LENGTH,
  mailFields,
  SentMailBegun,
  sentMailStatus,
} from './fields.js';

const NewMail = s.object('NewMail', mailFields());
export type NewMail = s.Static<typeof NewMail>;

const fields = {
  id: s.id('sentmail'),
  accountId: s.id('mailaccount'),
  messageId: s.text(1000),
  status: sentMailStatus(),
  recipients: s.list(
    s.object('MailRecipient', {
      address: s.text(320),
      place: s.oneOf('MailRecipientPlace', 'to', 'cc', 'bcc'),
      status: s.oneOf(
        'MailRecipientStatus',
        ...(['queued', 'sent', 'refused', 'bounced', 'cancelled', 'unknown'] as const),
      ),
      reply: s
        .nullable(s.anyText(1000))
        .description(
          'Last reply of the mail server for this recipient, or the reason for `status`. `null` if there is neither',
        ),
    }),
    MAX_RECIPIENTS,
  ),
  subject: s.anyText(998),
  inReplyTo: s
    .nullable(s.anyText(1000))
    .description('`Message-ID` of the original message. `null` if the e-mail is not a reply'),
  attachments: s.list(
    s.object('SentFile', {
      documentId: s.id('document'),
      name: s.text(300),
      mediaType: s.text(200),
      bytes: s.integer(0, Number.MAX_SAFE_INTEGER),
    }),
    MAX_FILES,
  ),
  attempts: s.integer(0, Number.MAX_SAFE_INTEGER).description('Number of attempts'),
  nextAt: s.nullable(s.time()).description('Time of the next attempt. `null` if there is none'),
  error: s.nullable(s.anyText(2000)).description('Error message. `null` without an error'),
  copy: s
    .oneOf('SentMailCopy', 'none', 'wanted', 'saved', 'failed')
    .description(
      'State of the copy in the sent folder. `wanted`: not saved yet. `none`: the account does not save sent messages, or the message has not been sent',
    ),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
};

export const SentMail = s.object('SentMail', fields);
export type SentMail = s.Static<typeof SentMail>;

export const SentMailDetail = s.object('SentMailDetail', {
  ...fields,
  text: s.anyText(MAX_TEXT_LENGTH),
  html: s
    .nullable(s.anyText(MAX_TEXT_LENGTH))
    .description('Text in HTML format. `null` if there is none'),
});
export type SentMailDetail = s.Static<typeof SentMailDetail>;

export const sentmail = contract({
  send: endpoint.post('/api/email/send', {
    summary: 'Send an e-mail',
    example: { to: ['bob@example.org'], subject: 'The report', text: 'It is done.' },
    body: NewMail,
    reply: SentMailBegun,
    status: 202,
    audit: 'sentmail.send',
    unimpersonated: true,
  }),
  list: endpoint.get('/api/email/sent', {
    summary: 'List e-mails sent through Adjutant',
    query: pageQuery('SentMailQuery', {
      accountId: s.optional(s.text(80)),
      status: s.optional(sentMailStatus()),
    }),
    reply: createPageSchema('sent', SentMail),
  }),
  get: endpoint.get('/api/email/sent/{id}', {
    summary: 'Get a sent e-mail',
    reply: SentMailDetail,
  }),
  cancel: endpoint.post('/api/email/sent/{id}/cancel', {
    summary: 'Cancel a queued e-mail',
    reply: SentMailDetail,
    audit: 'sentmail.cancel',
    unimpersonated: true,
  }),
});
