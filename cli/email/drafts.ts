import { contracts, type MailDraft } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { cutToWidth, formatCount, revealInvisible, safe } from '../text.js';
import { formatMail } from './mailtext.js';
import { mailPartFlags, mailParts } from './send.js';

const endpoints = await contracts.maildrafts();

const draftColumns = buildColumns<MailDraft>(
  ['id:data', 'short=id:tail'],
  { name: 'to', value: ({ to }) => to.join(', ') },
  ['subject'],
  { name: 'files', value: ({ attachments }) => attachments.length || '' },
  {
    name: 'trust',
    value: ({ untrusted }) => (untrusted ? 'untrusted' : 'trusted'),
    isState: true,
  },
  ['changed=updatedAt:ago'],
);

const formatDraftName = ({ subject, to, id }: MailDraft): string =>
  cutToWidth(subject || to.join(', ') || id, 60);

const draftCrud = crud({
  noun: 'maildraft',
  called: 'draft',
  argument: 'draft',
  rows: 'drafts',
  path: 'email drafts',
  endpoints,
  columns: draftColumns,
  named: (draft) => ({ id: draft.id, name: formatDraftName(draft) }),
});

const create = command({
  name: 'create',
  calls: [endpoints.create],
  examples: [
    "--to bob@example.org --subject 'The report' --text 'It is nearly done.'",
    "--in-reply-to 4ew6rt --text 'Thank you.' --attach figures.pdf",
    '--to bob@example.org --subject Minutes --text-file minutes.txt --json',
  ],
  fields: () => requestFields(endpoints.create.body, ['accountId', 'attachments']),
  flags: mailPartFlags,
  notes: ['A reply takes its recipient and subject from the original, unless you pass them.'],
  run: async (context, { fields, flags }) => {
    const more = await mailParts(context, fields, flags);
    const body = await requestFrom(endpoints.create.body, { fields, more }, context.at);
    const client = await context.client();
    const draft = await client.maildrafts.create({ body });
    context.out.done(`Saved the draft ${safe(formatDraftName(draft))}.`, draft, draftColumns);
  },
});

const showDraft = ({ out }: Context, draft: MailDraft): void => {
  if (out.format === 'json') out.json(draft);
  else if (out.format === 'id') out.line(draft.id);
  else if (out.format === 'table') readDraft(out, draft);
  else out.line(out.isTerminal ? safe(draft.text) : draft.text);
};

const readDraft = (out: Context['out'], draft: MailDraft): void => {
  const { headers, text } = formatDraft(out, draft);
  for (const line of headers) out.note(line);
  if (draft.untrusted) out.warn(UNTRUSTED);
  for (const line of text) out.line(line);
};

const UNTRUSTED = 'An untrusted agent wrote this draft. Read it carefully before you send it.';

const formatDraft = (out: Context['out'], draft: MailDraft) => {
  const { id, to, cc, bcc, subject, attachments, html, text, untrusted } = draft;
  return formatMail(
    {
      facts: [
        ['To', to.join(', ')],
        ['Cc', cc.join(', ')],
        ['Bcc', bcc.join(', ')],
        ['Subject', subject],
        ['Documents', attachments.join(', ')],
        [
          'HTML',
          html === null ? '' : `not shown here: adjutant email drafts get ${id.slice(-6)} --json`,
        ],
      ],
      text: untrusted ? revealInvisible(text) : text,
    },
    out.width,
  );
};

/** Shows the draft and asks on a terminal. In a pipe, only an untrusted draft requires `--yes`. */
const send = command({
  name: 'send',
  args: '<draft>',
  calls: [endpoints.send, endpoints.get],
  examples: ['4ew6rt', '4ew6rt --yes', 'Report --json'],
  notes: [
    'On a terminal, the command shows the draft and asks for confirmation.',
    'Elsewhere, a draft that an untrusted agent wrote requires --yes.',
  ],
  run: async (context, { args }) => {
    const { out, ask, flags } = context;
    const { client, id } = await draftCrud.find(context, args.draft);
    const draft = await client.maildrafts.get({ id });
    if (ask.isPossible && !flags.yes) {
      const { headers, text } = formatDraft(out, draft);
      for (const line of [...headers, ...text, '']) out.warn(line);
    }
    if (draft.untrusted && !flags.yes) out.warn(UNTRUSTED);
    if (draft.untrusted || ask.isPossible) {
      const count = draft.to.length + draft.cc.length + draft.bcc.length;
      await ask.confirm(`Send it to ${formatCount(count, 'recipient')}?`);
    }
    const begun = await client.maildrafts.send({ id, query: { updatedAt: draft.updatedAt } });
    if (out.format === 'json') return out.json(begun);
    out.note(`Sending. Check the outcome: adjutant email sent get ${begun.id.slice(-6)}`);
  },
});

export const mailDraftsGroup: CommandGroup = {
  commands: [
    draftCrud.list({
      examples: ['', '--json', '--output id'],
      next: (rows) =>
        rows.length === 0 ? 'No drafts. Create one: adjutant email drafts create' : undefined,
    }),
    draftCrud.request({
      name: 'get',
      args: '<draft>',
      endpoint: endpoints.get,
      examples: ['4ew6rt', '4ew6rt --json', 'Report'],
      show: showDraft,
    }),
    create,
    draftCrud.update({
      examples: ["4ew6rt --text 'It is done.'", '4ew6rt --edit', 'Report --to bob@example.org'],
    }),
    send,
    draftCrud.delete({
      several: true,
      examples: [
        '4ew6rt',
        '4ew6rt --yes',
        'email drafts list --output id | xargs -n1 adjutant email drafts delete --yes',
      ],
      ask: (draft) => `Delete the draft ${safe(formatDraftName(draft))}?`,
    }),
  ],
  notes: ['Identify a draft by its id, the last six characters of the id, or its subject.'],
};
