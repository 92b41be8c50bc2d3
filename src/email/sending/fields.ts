import Joi from 'joi';
import * as s from '../../kernel/contract/schema.js';

/** Ours: the most recipients of one message, and the most documents with it. */
export const MAX_RECIPIENTS = 100;
export const MAX_FILES = 20;
export const MAX_TEXT_LENGTH = 1_000_000;

/** One line for a header: no control characters, of which CR and LF would begin another header. */
const line = s.later(() =>
  Joi.string<string>()
    .max(998)
    .pattern(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'one line without control characters')
    .example('The report'),
);
const addresses = (label: string) =>
  s.list(s.email(), MAX_RECIPIENTS).label(label).description('Addresses, without names');

/** The parts of an e-mail that is written. */
export const mailFields = () => ({
  accountId: s.optional(
    s.text(80).description('That of the message that it answers, or your only one, unless given'),
  ),
  to: s.optional(addresses('MailTo')),
  cc: s.optional(addresses('MailCc')),
  bcc: s.optional(addresses('MailBcc')),
  subject: s
    .optional(line)
    .description('In an answer `Re:` and the subject answered, unless given'),
  text: s.anyText(MAX_TEXT_LENGTH),
  html: s.optional(s.text(MAX_TEXT_LENGTH).description('The same in HTML, as it is')),
  inReplyTo: s.optional(s.text(80).description('An e-mail of yours that it answers, by its id')),
  attachments: s.optional(
    s.list(s.text(80), MAX_FILES).label('MailDocuments').description('Ids of your documents'),
  ),
});

export const sentMailStatus = () =>
  s
    .oneOf(
      'SentMailStatus',
      ...(['queued', 'sending', 'sent', 'failed', 'cancelled', 'unknown'] as const),
    )
    .description('unknown: the answer of the server was lost; it is not sent again by itself');

export const SentMailBegun = s.object('SentMailBegun', {
  id: s.id('sentmail'),
  status: sentMailStatus(),
});
