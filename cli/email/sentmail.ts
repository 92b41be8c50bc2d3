import { contracts, type SentMail, type SentMailDetail } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import type { CommandGroup, Context } from '../command.js';
import { crud } from '../crud.js';
import { cutToWidth, localTime } from '../text.js';
import { deliveryWord, describeDelivery, describeRecipient, placeName } from './delivery.js';
import { formatMail, type MailFact } from './mailtext.js';

const endpoints = await contracts.sentmail();

const formatRecipients = ({ recipients }: SentMail): string => {
  const [first] = recipients;
  const more = recipients.length - 1;
  return first ? `${first.address}${more > 0 ? ` and ${more} more` : ''}` : '';
};

export const sentColumns = buildColumns<SentMail>(
  ['id:data', 'short=id:tail'],
  { name: 'status', value: ({ status }) => status, show: deliveryWord, isState: true },
  { name: 'to', value: formatRecipients },
  ['subject', 'attempts', 'sent=createdAt:ago', 'error'],
);

export const sentCrud = crud({
  noun: 'sentmail',
  called: 'sent e-mail',
  argument: 'message',
  rows: 'sent',
  path: 'email sent',
  endpoints,
  columns: sentColumns,
  named: ({ id, subject }) => ({ id, name: cutToWidth(subject, 60) }),
});

/** A terminal shows the status of each recipient, and the text. */
const showSent = (context: Context, mail: SentMailDetail): void => {
  const { out } = context;
  if (out.format !== 'table' || context.flags.fields) {
    out.item(mail, sentColumns);
    return;
  }
  const facts: MailFact[] = [
    ['Subject', mail.subject],
    ['Status', describeDelivery(mail)],
    ...mail.recipients.map((one): MailFact => [placeName(one), describeRecipient(one)]),
    ['Files', mail.attachments.map(({ name }) => name).join(', ')],
    ['Created', localTime(mail.createdAt)],
    ['Next attempt', mail.nextAt === null ? '' : localTime(mail.nextAt)],
    ['Copy', mail.copy === 'none' ? '' : mail.copy],
  ];
  const { headers, text } = formatMail({ facts, text: mail.text }, out.width);
  for (const line of headers) out.note(line);
  for (const line of text) out.line(line);
};

const cancelledText = ({ recipients }: SentMailDetail): string => {
  const got = recipients.filter(({ status }) => status === 'sent').length;
  const had =
    got === 0 ? 'nobody received it' : `${got} of ${recipients.length} had already received it`;
  return `Cancelled: ${had}.`;
};

export const sentMailGroup: CommandGroup = {
  commands: [
    sentCrud.list({
      examples: ['', '--status unknown', '--json'],
      next: (rows) =>
        rows.length === 0 ? 'No sent e-mails. Send one: adjutant email send --help' : undefined,
    }),
    sentCrud.request({
      name: 'get',
      args: '<message>',
      endpoint: endpoints.get,
      examples: ['4ew6rt', '4ew6rt --json', 'Report'],
      show: showSent,
    }),
    sentCrud.request({
      name: 'cancel',
      args: '<message>',
      endpoint: endpoints.cancel,
      examples: ['4ew6rt', '4ew6rt --json', 'Report'],
      notes: ['An e-mail that is being sent cannot be cancelled.'],
      say: ({ out }, mail) => out.done(cancelledText(mail), mail, sentColumns),
    }),
  ],
  notes: ['Identify a message by its id, the last six characters of the id, or its subject.'],
};
