import Joi from 'joi';
import * as s from '../../kernel/contract/schema.js';

export const MAX_RECIPIENTS = 100;
export const MAX_FILES = 20;
export const MAX_TEXT_LENGTH = 1_000_000;

/** Excludes control characters, since CR and LF would start another header. */
const line = s.lazy(() =>
  Joi.string<string>()
    .max(998)
    .pattern(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, 'one line without control characters')
    .example('The report'),
);
const addresses = (label: string) =>
  s
    .list(s.email(), MAX_RECIPIENTS)
    .label(label)
    .description('E-mail addresses without display names');

export const mailFields = () => ({
  accountId: s.optional(
    s
      .text(80)
      .description(
        'ID of the mail account to send from. Defaults to the account of the original message, ' +
          'or to your only account',
      ),
  ),
  to: s.optional(addresses('MailTo')),
  cc: s.optional(addresses('MailCc')),
  bcc: s.optional(addresses('MailBcc')),
  subject: s
    .optional(line)
    .description(
      'Subject. Required unless the message is a reply, where it defaults to `Re:` and the original subject',
    ),
  text: s.anyText(MAX_TEXT_LENGTH),
  html: s.optional(s.text(MAX_TEXT_LENGTH).description('HTML version of the text, sent unchanged')),
  inReplyTo: s.optional(s.text(80).description('ID of the message to reply to')),
  attachments: s.optional(
    s
      .list(s.text(80), MAX_FILES)
      .label('MailDocuments')
      .description('IDs of your documents to attach'),
  ),
});

export const sentMailStatus = () =>
  s
    .oneOf(
      'SentMailStatus',
      ...(['queued', 'sending', 'sent', 'failed', 'cancelled', 'unknown'] as const),
    )
    .description(
      'Status of the message. `unknown`: the reply of the server was lost, so the message may have been sent. Such a message is not resent automatically',
    );

export const SentMailBegun = s.object('SentMailBegun', {
  id: s.id('sentmail'),
  status: sentMailStatus(),
});
