import { type AccountPasskey, type Client, contracts } from '../../src/client/index.js';
import { passkeyColumns } from '../auth/columns.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import type { TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { requestFields, requestFrom } from '../fields.js';
import { listCommand } from '../list.js';
import { askNeeded } from '../prompt.js';
import { resolveId } from '../resolve.js';
import { safe } from '../text.js';
import { userCrud } from './columns.js';

const { passkeys: list, 'passkey-remove': remove } = await contracts.users();
const fields = () => requestFields(remove.body, ['password']);

const columns: TableColumn<AccountPasskey>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'name', value: (one) => one.name },
  ...passkeyColumns,
];

const listPasskeys = listCommand({
  endpoint: list,
  args: '<user>',
  examples: ['bob', 'bob --json', 'bob --fields name,used'],
  rows: 'passkeys',
  columns,
  within: async (client, { user }) => ({ id: await userCrud.id(client, user) }),
  next: (rows) => (rows.length === 0 ? 'That user has no passkeys.' : undefined),
});

const removePasskey = command({
  name: 'remove',
  args: '<user> <passkey>',
  calls: [remove],
  examples: [
    'bob "Bob’s phone" --reason "ticket 41: a lost phone"',
    'bob 4ew6rt --reason "ticket 41" --yes',
    'bob 4ew6rt --reason "ticket 41" --yes --password-file ./password',
  ],
  fields,
  flags: { passwordFile: freshPasswordFile },
  notes: ['All sessions of the user end, and the user is told on every channel, with the reason.'],
  seeAlso: 'adjutant recover, adjutant users passkeys list',
  run: async (context, { args, flags, fields: given }) => {
    const { client, id } = await userCrud.find(context, args.user);
    const passkeyId = await passkeyOf(client, id, args.passkey);
    const more = await askNeeded(context, fields(), { fields: given });
    const asked = await requestFrom(remove.body, { fields: given, more }, context.at);
    const name = safe(args.user);
    await context.ask.confirm(`Remove this passkey of ${name}? All their sessions end.`);
    await withPassword(context, flags.passwordFile, (password) =>
      client.users['passkey-remove']({ id, passkeyId, body: { ...asked, ...password } }),
    );
    context.out.note('Removed.');
  },
});

const passkeyOf = (client: Client, userId: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'passkey',
    listed: 'users passkeys list',
    page: async (cursor) => {
      const page = await client.users.passkeys({ id: userId, query: { limit: 200, cursor } });
      return { rows: page.passkeys, nextCursor: page.nextCursor };
    },
  });

export const userPasskeys: CommandGroup = {
  summary: 'Passkeys of other users (admin)',
  commands: [listPasskeys, removePasskey],
};
