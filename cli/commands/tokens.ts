import { type AccessToken, contracts } from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import { now } from '../clock.js';
import { shownAs, type TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { safe } from '../text.js';
import { ago, localTime } from '../times.js';

const endpoints = await contracts.tokens();
const { create } = endpoints;

const isOver = ({ expiresAt }: AccessToken): boolean => Date.parse(expiresAt) <= now();

const columns: TableColumn<AccessToken>[] = [
  { name: 'id', value: (one) => one.id, only: 'data' },
  { name: 'name', value: (one) => one.name },
  { name: 'scopes', value: (one) => one.scopes?.join(' ') ?? 'all' },
  {
    name: 'expires',
    value: (one) => one.expiresAt,
    show: (one) => (isOver(one) ? 'expired' : ago(one.expiresAt)),
  },
  shownAs('used', (one) => one.lastUsedAt, ago, 'never'),
  shownAs('made', (one) => one.createdAt, ago),
  { name: 'short', value: (one) => one.id.slice(-6), only: 'table' },
];

const createToken = command({
  name: 'create',
  args: '<name>',
  calls: [create],
  examples: [
    'ci --scopes hooks:read,agents:read',
    'backup --expires-in-days 30 > token.txt',
    'ci --password-file - < ./password',
  ],
  fields: () => requestFields(create.body, ['name', 'password']),
  flags: {
    passwordFile: freshPasswordFile,
  },
  notes: [
    'A scope is a resource of the API and :read or :write; writing does not include reading.',
    'The token goes to stdout alone, this once. Scripts take it from ADJUTANT_TOKEN.',
  ],
  seeAlso: 'adjutant help scripting',
  run: async (context, { args, flags, fields }) => {
    const filled = { fields, more: { name: args.name } };
    const asked = await requestFrom(create.body, filled, context.at);
    const client = await context.client();
    const reply = await withPassword(context, flags.passwordFile, (password) =>
      client.tokens.create({ body: { ...asked, ...password } }),
    );
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.note('The new token, shown this once:');
    context.out.line(reply.token);
    context.out.note(`It is good until ${localTime(reply.expiresAt)}.`);
    if (!reply.scopes)
      context.out.note('It may do all that you may, but answer approvals and act as an admin.');
  },
});

const tokenCrud = crud({
  noun: 'token',
  path: 'auth tokens',
  rows: 'tokens',
  endpoints,
  columns,
  named: (token) => token,
});

export const tokensGroup: CommandGroup = {
  commands: [
    tokenCrud.list({
      examples: ['', '--json', '--fields name,expires'],
      next: (rows) =>
        rows.length === 0 ? 'No tokens. Make one: adjutant auth tokens create <name>' : undefined,
    }),
    createToken,
    tokenCrud.end({
      examples: ['ci', '4ew6rt --yes', 'ci --yes'],
      ask: (typed) => `Delete the token ${safe(typed)}? What uses it is refused at once.`,
      said: 'Deleted.',
    }),
  ],
};
