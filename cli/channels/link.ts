import { ApiError } from '../../src/client/errors.js';
import { type Channel, contracts } from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import { fieldColumns, shownAs, type TableColumn } from '../columns.js';
import { command } from '../command.js';
import type { Context } from '../context.js';
import { crud } from '../crud.js';
import { failed } from '../exit.js';
import { oneLine } from '../text.js';
import { ago, localTime } from '../times.js';

const endpoints = await contracts.channels();

export const channelColumns: TableColumn<Channel>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  ...fieldColumns('kind', 'name', 'address'),
  shownAs('verified', (one) => one.verifiedAt, ago, 'not yet'),
  shownAs('linked', (one) => one.createdAt, ago, 'never'),
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];

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
    'With the code that /link gave you in a channel, it shows who that is and asks.',
    'Without one it makes a code, which you say in the channel: /link <code>',
  ],
  seeAlso: 'adjutant channels setup',
  run: async (context, { args, flags }) => {
    if (args.code === undefined) return giveCode(context, flags.passwordFile);
    const client = await context.client();
    const body = { code: args.code };
    const { name, address, kind } = await client.channels
      .preview({ body })
      .catch(explain(ASK_AGAIN));
    context.out.note(`The code was made by ${oneLine(name)} (${oneLine(address)}) on ${kind}.`);
    context.out.note('Whatever is written from there will count as yours.');
    await context.ask.confirm('Link this to your account?');
    const channel = await withPassword(context, flags.passwordFile, (password) =>
      client.channels.link({ body: { ...body, ...password } }),
    ).catch(explain(ASK_AGAIN));
    context.out.done(`Linked ${oneLine(name)} on ${kind}.`, channel, channelColumns);
  },
});

const ASK_AGAIN = 'Ask for another in the channel: /link';

/** A wrong code, with what to do then. */
export const explain =
  (next: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.code !== 'wrong_code') throw error;
    throw failed(`${error.message}.`, next);
  };

const giveCode = async (context: Context, file: string | undefined): Promise<void> => {
  const client = await context.client();
  const made = await withPassword(context, file, (body) => client.channels.codes({ body }));
  if (context.out.format === 'json') return context.out.json(made);
  context.out.line(made.code);
  context.out.note(`Say in the channel, once, until ${localTime(made.expiresAt)}:`);
  context.out.note(`/link ${made.code}`);
};
