import { type Client, contracts, type Passkey } from '../../src/client/index.js';
import { passkeyColumns } from '../auth/passkeycolumns.js';
import type { Column } from '../columns.js';
import { command, type Group } from '../command.js';
import { listing } from '../listing.js';
import { idOf } from '../resolve.js';

const { list, delete: remove } = await contracts.passkeys();

const columns: Column<Passkey>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'name', value: (one) => one.name },
  { name: 'state', value: (one) => (one.works ? 'works' : 'other address') },
  ...passkeyColumns,
];

const listPasskeys = listing({
  name: 'list',
  args: '',
  summary: list.summary,
  examples: ['', '--json', '--fields name,address'],
  query: list.query,
  key: 'passkeys',
  columns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.passkeys.list({ query });
  },
  next: (rows) => {
    if (rows.length === 0) return 'No passkeys. Add one in a browser: adjutant login --passkey';
    return rows.some(({ works }) => !works)
      ? 'Those of another address work there alone (ADJUTANT_PUBLIC_URL).'
      : undefined;
  },
});

const deletePasskey = command({
  name: 'delete',
  args: '<passkey>',
  summary: remove.summary,
  examples: ['"Ada’s phone"', '4ew6rt --yes', '4ew6rt'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await passkeyId(client, args.passkey);
    await context.ask.confirm('Delete this passkey? It will not log in any more.');
    await client.passkeys.delete({ id });
    context.out.note('Deleted.');
  },
});

const passkeyId = (client: Client, typed: string): Promise<string> =>
  idOf(typed, {
    noun: 'passkey',
    listed: 'auth passkeys list',
    page: async (cursor) => {
      const page = await client.passkeys.list({ query: { limit: 200, cursor } });
      return { rows: page.passkeys, nextCursor: page.nextCursor };
    },
  });

export const passkeys: Group = {
  name: 'auth passkeys',
  summary: 'Ways to log in without a password',
  commands: [listPasskeys, deletePasskey],
  notes: ['Add one in a browser: adjutant login --passkey'],
};
