import { basename } from 'node:path';
import {
  contracts,
  type MailAccount,
  type MailMessage,
  type MailMessageDetail,
} from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CliCommand, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { downloadFile } from '../documents/download.js';
import { failed } from '../exit.js';
import { cutToWidth, localTime, oneLine, safe, wrapText } from '../text.js';

const endpoints = await contracts.mail();

const mailColumns = buildColumns<MailMessage>(
  ['id:data', 'short=id:tail'],
  { name: 'new', value: ({ unread }) => (unread ? 'new' : '') },
  ...buildColumns<MailMessage>(['date:ago']),
  { name: 'from', value: ({ from }) => formatSender(from) },
  ['subject', 'category', 'priority'],
  { name: 'files', value: ({ attachments }) => attachments.length || '' },
);

/** Name of a sender, with the address if the name looks like another address. */
const formatSender = (from: MailMessage['from']): string => {
  if (from === null) return '';
  if (from.name === '' || from.name.includes('@')) return `${from.name} <${from.address}>`.trim();
  return from.name;
};

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

const showMail = ({ out }: Context, mail: MailMessageDetail): void => {
  if (out.format === 'json') out.json(mail);
  else if (out.format === 'id') out.line(mail.id);
  else if (out.format === 'table') {
    for (const [name, value] of listMailHeaders(mail)) out.note(`${name}: ${oneLine(value)}`);
    for (const line of safe(mail.text).split('\n')) {
      for (const folded of wrapText(line, out.width)) out.line(folded);
    }
    if (mail.problem !== null)
      out.warn(`Only the stored beginning is shown. ${oneLine(mail.problem)}`);
    else if (mail.isCut) out.warn('The text was truncated.');
  } else out.line(out.isTerminal ? safe(mail.text) : mail.text);
};

const listMailHeaders = (mail: MailMessageDetail): [string, string][] => {
  const { from, to, subject, date, attachments, authentication } = mail;
  const files = attachments.map(({ name }, at) => `${at} ${name}`).join(', ');
  const found = authentication
    ? `spf ${authentication.spf}, dkim ${authentication.dkim}, dmarc ${authentication.dmarc}`
    : '';
  const facts: [string, string][] = [
    ['From', from ? `${from.name} <${from.address}>` : ''],
    ['To', to.map(({ address }) => address).join(', ')],
    ['Date', localTime(date)],
    ['Subject', subject],
    ['Sorted', `${mail.category}, priority ${mail.priority}`],
    ['Thread', mail.threadId],
    ['Files', files],
    ['Sender', found],
    ['Unsubscribe', mail.listUnsubscribe ?? ''],
  ];
  return facts.filter(([, value]) => value !== '');
};

const whyNotRead = ({ address, status, error }: MailAccount): string =>
  `${safe(address)} is not up to date, ` +
  `${status === 'needs_login' ? 'its login is refused' : 'it fails'}: ` +
  `${oneLine(error ?? 'no reason given')}. Test it: adjutant email accounts test ` +
  `${safe(address)}`;

const get = mailCrud.request({
  name: 'get',
  args: '<message>',
  endpoint: endpoints.get,
  examples: ['4ew6rt', '4ew6rt --json', "'Your invoice'"],
  notes: ['The message stays unread.'],
  show: showMail,
});

const download = command({
  name: 'download',
  args: '<message> <number> [file]',
  calls: [endpoints.attachment],
  examples: ['4ew6rt 0', '4ew6rt 1 copies/letter.pdf', '4ew6rt 0 - > letter.pdf'],
  notes: ['Attachments are numbered from 0. Without a file it is saved under its own name.'],
  run: async (context, { args }) => {
    const { client, id } = await mailCrud.find(context, args.message);
    const { attachments } = await client.mail.get({ id });
    const attached = attachments[Number(args.number)];
    if (!attached)
      throw failed(
        `The e-mail has no attachment with the number ${oneLine(args.number)}.`,
        `List the attachments with their numbers: adjutant email get ${id.slice(-6)}`,
      );
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
  within: async (_client, _id, { number }) => ({ number }),
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
    next: (rows) =>
      rows.length === 0 ? 'No e-mails. Mailboxes: adjutant email accounts list' : undefined,
  }),
  get,
  download,
  keep,
];
