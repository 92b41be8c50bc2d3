import { contracts, type MailDraft } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { cutToWidth, oneLine, safe, wrapText } from '../text.js';
import { mailPartFlags, mailParts } from './send.js';

const endpoints = await contracts.maildrafts();

const draftColumns = buildColumns<MailDraft>(
  ['id:data', 'short=id:tail'],
  { name: 'to', value: ({ to }) => to.join(', ') },
  ['subject'],
  { name: 'files', value: ({ attachments }) => attachments.length || '' },
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
  for (const [name, addresses] of Object.entries({ To: draft.to, Cc: draft.cc, Bcc: draft.bcc })) {
    if (addresses.length > 0) out.note(`${name}: ${oneLine(addresses.join(', '))}`);
  }
  out.note(`Subject: ${oneLine(draft.subject)}`);
  if (draft.attachments.length > 0) out.note(`Documents: ${draft.attachments.join(', ')}`);
  if (draft.untrusted)
    out.warn('An untrusted agent wrote this draft. Read it carefully before you send it.');
  for (const line of safe(draft.text).split('\n')) {
    for (const folded of wrapText(line, out.width)) out.line(folded);
  }
};

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
    draftCrud.request({
      name: 'send',
      args: '<draft>',
      endpoint: endpoints.send,
      examples: ['4ew6rt', '4ew6rt --json', 'Report'],
      say: ({ out }, { id }) =>
        out.note(`Sending. Check the outcome: adjutant email sent get ${id.slice(-6)}`),
    }),
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
