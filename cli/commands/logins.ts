import { type Client, contracts, type LoginSession } from '../../src/client/index.js';
import type { Column } from '../columns.js';
import { command, type Group } from '../command.js';
import { listing } from '../listing.js';
import { idOf } from '../resolve.js';
import { age, ago } from '../times.js';

const { list, delete: remove } = await contracts.logins();

const columns: Column<LoginSession>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'device', value: (one) => one.device, show: (one) => one.device ?? 'no name' },
  { name: 'state', value: (one) => (one.current ? 'this one' : 'open') },
  { name: 'address', value: (one) => one.address },
  { name: 'used', value: (one) => one.lastUsedAt, show: (one) => age(one.lastUsedAt) },
  { name: 'begun', value: (one) => one.createdAt, show: (one) => ago(one.createdAt) },
  { name: 'ends', value: (one) => one.expiresAt, show: (one) => ago(one.expiresAt) },
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];

const listLogins = listing({
  name: 'list',
  args: '',
  summary: list.summary,
  examples: ['', '--json', '--fields id,device'],
  query: list.query,
  key: 'sessions',
  columns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.logins.list({ query });
  },
  next: () => 'One that you do not know: adjutant auth sessions delete <id>, then auth password',
});

const deleteLogin = command({
  name: 'delete',
  args: '<session>',
  summary: remove.summary,
  examples: ['4ew6rt', '"CLI on laptop" --yes', '4ew6rt --yes'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await loginId(client, args.session);
    await context.ask.confirm('End this login? Whoever uses it must log in again.');
    await client.logins.delete({ id });
    context.out.note('Ended.');
  },
});

const loginId = (client: Client, typed: string): Promise<string> =>
  idOf(typed, {
    noun: 'login',
    listed: 'auth sessions list',
    page: async (cursor) => {
      const { sessions, nextCursor } = await client.logins.list({ query: { limit: 200, cursor } });
      return { rows: sessions.map(({ id, device }) => ({ id, name: device ?? '' })), nextCursor };
    },
  });

export const logins: Group = {
  name: 'auth sessions',
  summary: 'Where you are logged in',
  commands: [listLogins, deleteLogin],
};
