import { contracts, type Reply } from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import { channelColumns, channelCrud, explain, linkChannel } from '../channels/link.js';
import { setup } from '../channels/setup.js';
import { fieldColumns, type TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { Exit } from '../exit.js';
import { requestFields, requestFrom, withArguments } from '../fields.js';
import { oneLine } from '../text.js';

const endpoints = await contracts.channels();

const create = command({
  name: 'create',
  args: '[url]',
  calls: [endpoints.create],
  examples: [
    'channels create https://example.org/from-adjutant > secret.txt',
    'channels create https://example.org/from-adjutant --name pager --json',
    'channels create --url https://example.org/from-adjutant --name pager',
  ],
  fields: () => requestFields(endpoints.create.body, ['kind', 'password']),
  flags: { passwordFile: freshPasswordFile },
  notes: [
    'For an address of yours: a script, a home server, another program. It signs by Standard Webhooks.',
    'The secret goes to stdout alone, this once. A code is sent to the address; then: channels verify',
  ],
  seeAlso: 'adjutant channels setup webhook',
  run: async (context, { args, flags, fields }) => {
    const filled = { fields: withArguments(fields, args), more: { kind: 'webhook' } };
    const asked = await requestFrom(endpoints.create.body, filled, context.at);
    const client = await context.client();
    const made = await withPassword(context, flags.passwordFile, (password) =>
      client.channels.create({ body: { ...asked, ...password } }),
    );
    const { out } = context;
    if (out.format === 'json') return out.json(made);
    out.note('The secret, shown this once:');
    out.line(made.secret);
    out.note(`A code was sent to ${oneLine(made.channel.address)}. Say it here:`);
    out.note(`adjutant channels verify ${made.channel.id.slice(-6)} <code>`);
  },
});

const verify = command({
  name: 'verify',
  args: '<channel> <code>',
  calls: [endpoints.verify],
  examples: ['4ew6rt K7MPXA', 'pager K7MPXA', '4ew6rt K7MPXA --json'],
  run: async (context, { args }) => {
    const { client, id } = await channelCrud.find(context, args.channel);
    const verified = client.channels.verify({ id, body: { code: args.code } });
    const channel = await verified.catch(explain('It is in the message that was sent there.'));
    context.out.done(
      `${oneLine(channel.name)} is verified: it is told from here on.`,
      channel,
      channelColumns,
    );
  },
});

const test = command({
  name: 'test',
  args: '<channel>',
  calls: [endpoints.test],
  examples: ['"Ada Lovelace"', '4ew6rt --json', 'pager --quiet && echo it arrives'],
  notes: ['Exit code 1: it failed, or nobody knows whether it arrived.'],
  run: async (context, { args }) => {
    const { client, id } = await channelCrud.find(context, args.channel);
    const tested = await client.channels.test({ id });
    const { status, error } = tested;
    if (status === 'failed' || status === 'unknown') context.exitCode = Exit.failed;
    const why = error === null ? '' : `: ${oneLine(error)}`;
    context.out.done(`${SAID[status]}${why}.`, tested, testColumns);
  },
});

type ChannelTestRow = Reply<'channels', 'test'>;

const SAID: Record<ChannelTestRow['status'], string> = {
  queued: 'It waits to be sent',
  sending: 'It is being sent',
  sent: 'Sent: it arrived there',
  failed: 'It was not sent',
  unknown: 'Nobody knows whether it arrived: the answer was lost',
};

const testColumns: TableColumn<ChannelTestRow>[] = [
  { name: 'id', value: (one) => one.sendingId, only: 'data' },
  { name: 'status', value: (one) => one.status, isState: true },
  ...fieldColumns('receipt', 'error'),
];

export const channelsGroup: CommandGroup = {
  commands: [
    channelCrud.list({
      examples: ['', '--kind telegram', '--json'],
      next: (rows) =>
        rows.length === 0 ? 'No channels. Link one: adjutant channels link' : undefined,
    }),
    linkChannel,
    setup,
    create,
    verify,
    test,
    channelCrud.end({
      examples: ['"Ada Lovelace"', '4ew6rt --yes', 'pager --yes'],
      ask: () => 'Unlink this channel? It is told nothing any more.',
      said: 'Unlinked.',
    }),
  ],
};
