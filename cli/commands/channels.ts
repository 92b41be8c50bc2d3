import { ApiError } from '../../src/client/errors.js';
import { type Channel, type Client, contracts } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { command, type Group } from '../command.js';
import type { Context } from '../context.js';
import { failed } from '../exit.js';
import { listing } from '../listing.js';
import { idOf } from '../resolve.js';
import { oneLine } from '../text.js';
import { age, timeOfDay } from '../times.js';

const { list, link, delete: remove } = await contracts.channels();

const columns: Column<Channel>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'kind', value: (one) => one.kind },
  { name: 'name', value: (one) => one.name },
  { name: 'address', value: (one) => one.address },
  {
    name: 'verified',
    value: (one) => one.verifiedAt,
    show: (one) => (one.verifiedAt ? age(one.verifiedAt) : 'not yet'),
  },
  { name: 'linked', value: (one) => one.createdAt, show: (one) => age(one.createdAt) },
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];

const listChannels = listing({
  name: 'list',
  args: '',
  summary: list.summary,
  examples: ['channels list', 'channels list --kind telegram', 'channels list --json'],
  query: list.query,
  key: 'channels',
  columns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.channels.list({ query });
  },
  next: (rows) => (rows.length === 0 ? 'No channels. Link one: adjutant channels link' : undefined),
});

const linkChannel = command({
  name: 'link',
  args: '[code]',
  summary: link.summary,
  examples: ['channels link', 'channels link K7MPXA'],
  notes: [
    'With the code that /link gave you in a channel, it shows who that is and asks.',
    'Without one it makes a code, which you say in the channel: /link <code>',
  ],
  run: async (context, { args }) => {
    if (args.code === undefined) return giveCode(context);
    const client = await context.client();
    const body = { code: args.code };
    const { name, address, kind } = await client.channels.preview({ body }).catch(explain);
    context.out.note(`The code was made by ${oneLine(name)} (${oneLine(address)}) on ${kind}.`);
    context.out.note('Whatever is written from there will count as yours.');
    await context.ask.confirm('Link this to your account?');
    const channel = await client.channels.link({ body }).catch(explain);
    context.out.done(`Linked ${oneLine(name)} on ${kind}.`, channel, columns);
  },
});

const explain = (error: unknown): never => {
  if (!(error instanceof ApiError) || error.code !== 'wrong_code') throw error;
  throw failed(`${error.message}.`, 'Ask for another in the channel: /link');
};

const giveCode = async (context: Context): Promise<void> => {
  const made = await (await context.client()).channels.codes();
  if (context.out.format === 'json') return context.out.json(made);
  context.out.line(made.code);
  context.out.note(`Say in the channel, once, until ${timeOfDay(made.expiresAt)}:`);
  context.out.note(`/link ${made.code}`);
};

const deleteChannel = command({
  name: 'delete',
  args: '<channel>',
  summary: remove.summary,
  examples: ['channels delete "Ada Lovelace"', 'channels delete 4ew6rt --yes'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await channelId(client, args.channel);
    await context.ask.confirm('Unlink this channel? It is told nothing any more.');
    await client.channels.delete({ id });
    context.out.note('Unlinked.');
  },
});

const channelId = (client: Client, typed: string): Promise<string> =>
  idOf(typed, {
    noun: 'channel',
    listed: 'channels list',
    page: async (cursor) => {
      const page = await client.channels.list({ query: { limit: 200, cursor } });
      return { rows: page.channels, nextCursor: page.nextCursor };
    },
  });

export const channels: Group = {
  name: 'channels',
  summary: 'Where else you speak with Adjutant: chat, messengers, mail',
  commands: [listChannels, linkChannel, deleteChannel],
};
