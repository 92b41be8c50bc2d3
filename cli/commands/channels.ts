import { ApiError } from '../../src/client/errors.js';
import { type Channel, contracts, type Reply } from '../../src/client/index.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { Exit, failed, usageFault } from '../exit.js';
import { freshPasswordFile, withPassword } from '../input.js';
import { requestCommand } from '../request.js';
import { ago, localTime, oneLine } from '../text.js';
import { setup } from './platforms.js';

const endpoints = await contracts.channels();

const channelColumns = buildColumns<Channel>(
  ['id:data', 'kind', 'name', 'address'],
  formattedColumn('verified', (one) => one.verifiedAt, ago, 'not yet'),
  ['linked=createdAt:ago', 'short=id:tail'],
);

export const channelCrud = crud({
  noun: 'channel',
  rows: 'channels',
  endpoints,
  columns: channelColumns,
  named: (channel) => channel,
});

/** `channels link`, and `auth link`. */
export const linkChannel = command({
  name: 'link',
  args: '[code]',
  calls: [endpoints.link, endpoints.codes, endpoints.preview],
  examples: ['', 'K7MPXA', 'K7MPXA --yes'],
  flags: { passwordFile: freshPasswordFile },
  notes: [
    'With the code that /link returned in a chat, the command shows the sender and asks for confirmation.',
    'Without a code, the command creates a code. Send the code in the chat: /link <code>',
  ],
  seeAlso: 'adjutant channels setup',
  run: async (context, { args, flags }) => {
    if (args.code === undefined) return giveCode(context, flags);
    const client = await context.client();
    const body = { code: args.code };
    const { name, address, kind } = await client.channels
      .preview({ body })
      .catch(explain(ASK_AGAIN));
    context.out.note(`The code was created by ${oneLine(name)} (${oneLine(address)}) on ${kind}.`);
    context.out.note(
      kind === 'ntfy' || kind === 'email'
        ? 'Your notifications will be sent there.'
        : 'Messages from there will count as yours.',
    );
    await context.ask.confirm('Link this channel to your account?');
    const channel = await withPassword(context, flags, (password) =>
      client.channels.link({ body: { ...body, ...password } }),
    ).catch(explain(ASK_AGAIN));
    context.out.done(`Linked ${oneLine(name)} on ${kind}.`, channel, channelColumns);
  },
});

const ASK_AGAIN =
  'Request another code. In a chat: /link. For e-mail and ntfy: adjutant channels add <kind> <address>';

const explain =
  (next: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.code !== 'wrong_code') throw error;
    throw failed(`${error.message}.`, next);
  };

const giveCode = async (context: Context, flags: { passwordFile?: string }): Promise<void> => {
  const client = await context.client();
  const made = await withPassword(context, flags, (body) => client.channels.codes({ body }));
  if (context.out.format === 'json') return context.out.json(made);
  context.out.line(made.code);
  context.out.note(`Send this in the chat, once, until ${localTime(made.expiresAt)}:`);
  context.out.note(`/link ${made.code}`);
};

/** `channels add`: the code that is sent to the address proves that it belongs to the user. */
const add = command({
  name: 'add',
  args: '<kind> <address>',
  calls: [endpoints.ntfy, endpoints.email],
  summary: 'Link an e-mail address or an ntfy topic',
  examples: [
    'email ada@example.org',
    'ntfy d2f6c1a9e07b4c53',
    'ntfy https://ntfy.example.org/alerts --name phone',
    'ntfy alerts --json',
  ],
  flags: {
    name: textFlag('<text>', 'Name of the channel'),
    passwordFile: freshPasswordFile,
  },
  notes: [
    'On a terminal, the command asks for the code that was sent. Elsewhere: channels link <code>',
    'The code works only for your account and expires after five minutes.',
  ],
  seeAlso: 'adjutant channels setup email, adjutant channels setup ntfy',
  run: async (context, { args, flags }) => {
    const { kind, address } = args;
    if (kind !== 'ntfy' && kind !== 'email') {
      const found = 'This command adds only e-mail addresses and ntfy topics.';
      throw usageFault(found, 'Link a chat: adjutant channels link');
    }
    const { out, ask } = context;
    const { channels } = await context.client();
    const name = flags.name === undefined ? {} : { name: flags.name };
    const sent =
      kind === 'email'
        ? await channels.email({ body: { address, ...name } })
        : await channels.ntfy({ body: { topic: address, ...name } });
    if (!ask.isPossible) {
      out.note(
        `A code was sent to ${oneLine(sent.address)}. Enter it: adjutant channels link <code>`,
      );
      if (out.format !== 'table') out.item(sent, sentColumns);
      return;
    }
    out.note(`A code was sent to ${oneLine(sent.address)}. Your notifications will be sent there.`);
    const code = await ask.text({ ask: 'Code', instead: 'adjutant channels link <code>' });
    const channel = await withPassword(context, flags, (password) =>
      channels.link({ body: { code, ...password } }),
    ).catch(explain('The code is in the message that was sent there.'));
    out.done(`Linked ${oneLine(channel.name)}.`, channel, channelColumns);
  },
});

const sentColumns = buildColumns<Reply<'channels', 'ntfy'>>(['kind', 'address', 'expiresAt']);

const create = requestCommand({
  name: 'create',
  args: '[url]',
  endpoint: endpoints.create,
  examples: [
    'channels create https://example.org/from-adjutant > secret.txt',
    'channels create https://example.org/from-adjutant --name pager --json',
    'channels create --url https://example.org/from-adjutant --name pager',
  ],
  except: ['kind', 'password'],
  areFields: true,
  isPrivileged: true,
  notes: [
    'For a URL of your own: a script, a home server, another program. Requests are ' +
      'signed as in Standard Webhooks.',
    'The secret is printed to stdout, once. A code is sent to the URL. Enter it with: ' +
      'channels verify',
  ],
  seeAlso: 'adjutant channels setup webhook',
  more: () => ({ kind: 'webhook' }),
  say: ({ out }, { secret, channel }) => {
    out.note('Secret, shown only once:');
    out.line(secret);
    out.note(`A code was sent to ${oneLine(channel.address)}. Enter it:`);
    out.note(`adjutant channels verify ${channel.id.slice(-6)} <code>`);
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
    const channel = await verified.catch(
      explain('The code is in the message that was sent there.'),
    );
    context.out.done(
      `${oneLine(channel.name)} is verified and receives notifications.`,
      channel,
      channelColumns,
    );
  },
});

const test = channelCrud.request({
  name: 'test',
  args: '<channel>',
  endpoint: endpoints.test,
  examples: ['"Ada Lovelace"', '4ew6rt --json', 'pager --quiet && echo it arrives'],
  notes: ['Exit code 1: the test failed, or the outcome is unknown.'],
  show: (context, tested) => {
    const { status, error } = tested;
    if (status === 'failed' || status === 'unknown') context.exitCode = Exit.failed;
    const why = error === null ? '' : `: ${oneLine(error)}`;
    context.out.done(`${STATUS_TEXT[status]}${why}.`, tested, testColumns);
  },
});

type ChannelTestRow = Reply<'channels', 'test'>;

const STATUS_TEXT: Record<ChannelTestRow['status'], string> = {
  queued: 'The message is queued',
  sending: 'The message is being sent',
  sent: 'The message was delivered',
  failed: 'The message was not sent',
  unknown: 'Outcome unknown: the reply was lost',
};

const testColumns = buildColumns<ChannelTestRow>([
  'id=sendingId:data',
  'status:state',
  'receipt',
  'error',
]);

export const channelsGroup: CommandGroup = {
  commands: [
    channelCrud.list({
      examples: ['', '--kind telegram', '--json'],
      next: (rows) =>
        rows.length === 0 ? 'No channels. Link one: adjutant channels link' : undefined,
    }),
    linkChannel,
    add,
    setup,
    create,
    verify,
    test,
    channelCrud.end({
      examples: ['"Ada Lovelace"', '4ew6rt --yes', 'pager --yes'],
      ask: () => 'Unlink this channel? It receives no more notifications.',
      message: 'Unlinked.',
    }),
  ],
};
