import { basename } from 'node:path';
import {
  type Client,
  contracts,
  type MailAccount,
  type MailMessage,
  type MailMessageDetail,
} from '../../src/client/index.js';
import { formatOmittedParts } from '../../src/kernel/omittedparts.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CliCommand, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { downloadFile } from '../documents/download.js';
import { Exit, failed } from '../exit.js';
import { cutToWidth, localTime, oneLine, safe } from '../text.js';
import { ADD_ACCOUNT, loginAdvice, NO_ACCOUNT } from './accounts.js';
import { formatMail, type MailFact } from './mailtext.js';

const endpoints = await contracts.mail();

/** Words of the desk. The usual priority has none. */
const PRIORITIES = ['low', '', 'high', 'urgent'];

const mailColumns = buildColumns<MailMessage>(
  ['id:data', 'short=id:tail'],
  { name: 'new', value: ({ unread }) => (unread ? 'new' : '') },
  ...buildColumns<MailMessage>(['date:ago']),
  { name: 'from', value: ({ from }) => formatSender(from) },
  ['subject', 'category'],
  formattedColumn(
    'priority',
    ({ priority }) => priority,
    (priority) => PRIORITIES[priority] ?? '',
  ),
  { name: 'files', value: ({ attachments }) => attachments.length || '' },
);

/** Name of a sender, with the address if the name looks like another address. */
const formatSender = (from: MailMessage['from']): string => {
  if (from === null) return '';
  return from.name === '' || from.name.includes('@') ? formatAddress(from) : from.name;
};

const formatAddress = ({ name, address }: NonNullable<MailMessage['from']>): string =>
  name === '' || name === address ? address : `${name} <${address}>`;

export const mailCrud = crud({
  noun: 'mail',
  called: 'e-mail',
  argument: 'message',
  rows: 'messages',
  path: 'email',
  endpoints,
  columns: mailColumns,
  named: ({ id, subject }) => ({ id, name: cutToWidth(subject, 60) }),
});

const showMail = (context: Context, mail: MailMessageDetail): void => {
  const { out } = context;
  if (mail.problem !== null) context.exitCode = Exit.failed;
  if (out.format === 'json') out.json(mail);
  else if (out.format === 'id') out.line(mail.id);
  else printMail(out, mail);
};

const printMail = (out: Context['out'], mail: MailMessageDetail): void => {
  if (out.format === 'table') {
    const facts = listMailHeaders(mail);
    const { headers, text } = formatMail({ facts, text: mail.text }, out.width);
    for (const line of headers) out.note(line);
    for (const line of text) out.line(line);
  } else out.line(out.isTerminal ? safe(mail.text) : mail.text);
  if (mail.problem !== null)
    out.warn(`Only the stored beginning is shown. ${oneLine(mail.problem)}`);
  else if (mail.isCut) out.warn('The text was truncated.');
  const omitted = formatOmittedParts(mail);
  if (omitted !== '') out.warn(omitted);
};

const listMailHeaders = (mail: MailMessageDetail): MailFact[] => {
  const { from, to, cc, replyTo, subject, date, attachments, authentication } = mail;
  const files = attachments.map(({ name }, at) => `${at} ${name}`).join(', ');
  const found = authentication
    ? `spf ${authentication.spf}, dkim ${authentication.dkim}, dmarc ${authentication.dmarc}`
    : 'not verified: the mail server reported no result';
  return [
    ['From', from ? formatAddress(from) : ''],
    ['Reply to', replyTo.map(({ address }) => address).join(', ')],
    ['To', to.map(({ address }) => address).join(', ')],
    ['Cc', cc.map(({ address }) => address).join(', ')],
    ['Date', localTime(date)],
    ['Subject', subject],
    ['Category', [mail.category, PRIORITIES[mail.priority]].filter(Boolean).join(', ')],
    ['Thread', mail.threadId],
    ['Files', files],
    ['Sender', found],
    ['Unsubscribe', mail.listUnsubscribe ?? ''],
  ];
};

const whyNotRead = (account: MailAccount): string => {
  const { address, status, error } = account;
  const isRefused = status === 'needs_login';
  return (
    `${safe(address)} is not up to date, ${isRefused ? 'its login is refused' : 'it fails'}: ` +
    `${oneLine(error ?? 'no reason given')}. ${isRefused ? `${loginAdvice(account)}. ` : ''}` +
    `Test it: adjutant email accounts test ${safe(address)}`
  );
};

const get = mailCrud.request({
  name: 'get',
  args: '<message>',
  endpoint: endpoints.get,
  examples: ['4ew6rt', '4ew6rt --json', "'Your invoice'"],
  notes: [
    'The message stays unread.',
    'Exit code 1: the mail server cannot be read, so only the stored beginning is shown.',
  ],
  show: showMail,
});

const findAttachment = async (client: Client, id: string, number: string) => {
  const { attachments } = await client.mail.get({ id });
  const attached = attachments[Number(number)];
  if (attached) return attached;
  throw failed(
    `The e-mail has no attachment with the number ${oneLine(number)}.`,
    `List the attachments with their numbers: adjutant email get ${id.slice(-6)}`,
  );
};

const download = command({
  name: 'download',
  args: '<message> <number> [file]',
  calls: [endpoints.attachment],
  examples: ['4ew6rt 0', '4ew6rt 1 copies/letter.pdf', '4ew6rt 0 - > letter.pdf'],
  notes: ['Attachments are numbered from 0. Without a file it is saved under its own name.'],
  run: async (context, { args }) => {
    const { client, id } = await mailCrud.find(context, args.message);
    const attached = await findAttachment(client, id, args.number);
    const file = args.file ?? basename(attached.name);
    const path = endpoints.attachment.path
      .replace('{id}', encodeURIComponent(id))
      .replace('{number}', encodeURIComponent(args.number));
    await downloadFile(context, path, file);
    if (file !== '-') context.out.note(`Saved: ${safe(file)}`);
  },
});

const keep = mailCrud.request({
  name: 'keep',
  args: '<message> <number>',
  endpoint: endpoints.keep,
  examples: ['4ew6rt 0', '4ew6rt 1 --json', "'Your invoice' 0"],
  notes: ['Attachments are numbered from 0. The same file is stored only once.'],
  seeAlso: 'adjutant documents list',
  within: async (client, id, { number }) => {
    await findAttachment(client, id, number);
    return { number };
  },
  say: ({ out }, { filename, documentId, duplicate }) =>
    out.note(
      `${duplicate ? 'Already stored' : 'Stored'}: ${safe(filename)}, the document ` +
        `${documentId.slice(-6)}`,
    ),
});

export const readingCommands: CliCommand[] = [
  mailCrud.list({
    examples: ['', '--unread --from bob', '--q invoice --since 2026-01-01 --json'],
    missing: async (client) => {
      const { accounts } = await client.mailaccounts.list({ query: { limit: 200 } });
      const failing = accounts.filter(({ status }) => status !== 'ok');
      return failing.length > 0 ? failing.map(whyNotRead).join('\n') : undefined;
    },
    next: async (rows, _args, client) => {
      if (rows.length > 0) return undefined;
      const { accounts } = await client.mailaccounts.list({ query: { limit: 1 } });
      return accounts.length === 0
        ? `${NO_ACCOUNT} ${ADD_ACCOUNT}`
        : 'No e-mails. Mailboxes: adjutant email accounts list';
    },
  }),
  get,
  download,
  keep,
];
