import { contracts, type MailAccount, type Reply } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { Exit } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { requestCommand } from '../request.js';
import { oneLine, safe } from '../text.js';

const endpoints = await contracts.mailaccounts();

export const mailAccountColumns = buildColumns<MailAccount>(
  ['id:data', 'address', 'status:state'],
  { name: 'imap', value: ({ imap }) => `${imap.host}:${imap.port}` },
  { name: 'smtp', value: ({ smtp }) => `${smtp.host}:${smtp.port}` },
  { name: 'watched', value: ({ watch }) => (watch ? 'yes' : 'no') },
  ['synced=lastSyncAt:ago', 'error'],
);

export const mailAccountCrud = crud({
  noun: 'mailaccount',
  called: 'mail account',
  argument: 'account',
  rows: 'accounts',
  path: 'email accounts',
  endpoints,
  columns: mailAccountColumns,
  named: ({ id, address }) => ({ id, name: address }),
});

const add = requestCommand({
  name: 'add',
  aliases: ['create'],
  args: '<address>',
  endpoint: endpoints.create,
  examples: [
    'ada@gmail.com --credential-id gmail',
    'ada@example.org --credential-id mail --data @servers.json',
    'ada@example.org --credential-id mail --watch --save-sent',
  ],
  except: ['address'],
  areFields: true,
  takesData: true,
  notes: [
    'If no servers are passed, the servers are found by the e-mail address.',
    'The password is a credential: adjutant vault add mail',
  ],
  seeAlso: 'adjutant email setup, which asks for the values',
  show: ({ out }, account) =>
    out.done(`Added ${safe(account.address)}.`, account, mailAccountColumns),
});

export const NO_ACCOUNT = 'There is no mail account.';
export const ADD_ACCOUNT = 'Add one: adjutant email setup <address>';

/** What to do if the server rejects the credential. */
export const loginAdvice = ({ auth, credentialId }: MailAccount): string =>
  `${auth === 'oauth2' ? 'Replace the refresh token' : 'Change the password'}: ` +
  `adjutant vault rotate ${credentialId.slice(-6)}`;

type TestReply = Reply<'mailaccounts', 'test'>;
type TestStep = TestReply['steps'][number];

const STEPS: Record<TestStep['step'], string> = {
  imap_login: 'log in to read',
  imap_folders: 'list the folders',
  imap_idle: 'watch for new mail',
  smtp_login: 'log in to send',
  smtp_send: 'send a message to yourself',
  arrival: 'receive the message',
};

const stepColumns = buildColumns<TestStep>(
  ['step:data'],
  { name: 'what', value: ({ step }) => STEPS[step] },
  ['status:state', 'detail'],
);

export const showMailTest = (context: Context, reply: TestReply): void => {
  const { out } = context;
  if (!reply.ok) context.exitCode = Exit.failed;
  out.page({ reply, rows: reply.steps, columns: stepColumns });
  const failed = reply.steps.find(({ status }) => status === 'failed');
  if (!failed) {
    warnSkippedSteps(context, reply);
    return;
  }
  out.warn(`The test fails at: ${STEPS[failed.step]}. ${oneLine(failed.detail ?? '')}`);
  if (reply.account.status === 'needs_login') out.warn(loginAdvice(reply.account));
};

export const warnSkippedSteps = ({ out }: Context, { steps }: TestReply): void => {
  for (const { step, status, detail } of steps) {
    if (status === 'skipped') out.warn(`Skipped: ${STEPS[step]}. ${oneLine(detail ?? '')}`);
  }
};

const test = mailAccountCrud.request({
  name: 'test',
  args: '<account>',
  endpoint: endpoints.test,
  examples: ['ada@example.org', 'ada@example.org --json', '4ew6rt --quiet && echo it works'],
  notes: ['Exit code 1: a step failed. The test sends a message to yourself.'],
  show: showMailTest,
});

type MailFolder = Reply<'mailaccounts', 'folders'>['folders'][number];

const folderColumns = buildColumns<MailFolder>(['name', 'use', 'messages', 'unread']);

const folders = mailAccountCrud.request({
  name: 'folders',
  args: '<account>',
  endpoint: endpoints.folders,
  examples: ['ada@example.org', 'ada@example.org --json', '4ew6rt --fields name,unread'],
  show: ({ out }, reply) => {
    if (reply.problem !== null) {
      out.warn(`Only watched folders are listed: ${oneLine(reply.problem)}`);
    }
    out.page({ reply, rows: reply.folders, columns: folderColumns });
  },
});

/** Reads the account first: the vault credential remains and is named. */
const remove = command({
  name: 'delete',
  args: '<account>',
  calls: [endpoints.delete],
  examples: ['ada@example.org', '4ew6rt --yes', 'ada@example.org --force --yes'],
  fields: () => requestFields(endpoints.delete.query),
  notes: [
    'Without --force, an account is not deleted while e-mails are waiting to be sent, or enabled hooks name it.',
  ],
  run: async (context, { args, fields }) => {
    const query = await requestFrom(endpoints.delete.query, { fields }, context.at);
    const { client, id } = await mailAccountCrud.find(context, args.account);
    const { address, credentialId } = await client.mailaccounts.get({ id });
    await context.ask.confirm(
      `Remove ${safe(address)} and its stored mail? The mailbox and the record of sent mail ` +
        'are kept.',
    );
    await client.mailaccounts.delete({ id, query });
    context.out.note(
      `Removed ${safe(address)}. Its login stays in the vault. Delete it: adjutant vault delete ` +
        credentialId.slice(-6),
    );
  },
});

export const mailAccountsGroup: CommandGroup = {
  commands: [
    mailAccountCrud.list({
      examples: ['', '--all', '--json'],
      next: (rows) => (rows.length === 0 ? `${NO_ACCOUNT} ${ADD_ACCOUNT}` : undefined),
    }),
    mailAccountCrud.get({
      examples: ['ada@example.org', 'ada@example.org --json', '4ew6rt --fields status,error'],
    }),
    add,
    mailAccountCrud.update({
      examples: [
        'ada@example.org --name "Ada Lovelace"',
        'ada@example.org --watch --folders INBOX,Work',
        'ada@example.org --imap.tls starttls --imap.port 143',
      ],
    }),
    test,
    folders,
    remove,
  ],
  notes: ['Identify an account by its address, its id, or the last six characters of the id.'],
};
