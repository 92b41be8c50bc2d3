import {
  type AccountPasskey,
  type Client,
  contracts,
  type Passkey,
  type Reply,
} from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import type { CommandGroup, Context } from '../command.js';
import { crud } from '../crud.js';
import { namePages } from '../pages.js';
import { listCommand, requestCommand } from '../request.js';
import { resolveId } from '../resolve.js';
import { safe } from '../text.js';
import { userCrud } from './users.js';

const { setup, enable, verify, disable, 'recovery-codes': renew } = await contracts.totp();
const { 'totp-remove': removal } = await contracts.users();

type TotpSetup = Reply<'totp', 'setup'>;

const setupColumns = buildColumns<TotpSetup>(['secret', 'address=otpauthUrl']);

const setUp = requestCommand({
  name: 'setup',
  endpoint: setup,
  examples: ['', '--password-file - < ./password', '--json'],
  isPrivileged: true,
  notes: ['On a terminal, the command shows the QR code for an authenticator app.'],
  seeAlso: 'adjutant auth totp enable',
  show: async (context, made) => {
    if (context.out.format !== 'table') context.out.item(made, setupColumns);
    else await draw(context, made);
    context.out.note('Next, with a code of the app: adjutant auth totp enable');
  },
});

const draw = async ({ out }: Context, { secret, otpauthUrl }: TotpSetup): Promise<void> => {
  const qr = await import('qrcode');
  out.note(await qr.toString(otpauthUrl, { type: 'terminal', small: true }));
  out.facts([
    ['secret', secret],
    ['address', otpauthUrl],
  ]);
};

const codeFrom = async (context: Context, input: { args: { code?: string } }) => ({
  code:
    input.args.code ??
    (await context.ask.text({ ask: 'Code', instead: 'the code as an argument' })),
});

const enableCodes = requestCommand({
  name: 'enable',
  args: '[code]',
  endpoint: enable,
  examples: ['287082', '287082 > recovery-codes.txt', ''],
  seeAlso: 'adjutant auth totp setup',
  more: codeFrom,
  say: (context, { recoveryCodes }) => give(context, recoveryCodes),
});

const give = ({ out }: Context, codes: string[]): void => {
  for (const each of codes) out.line(each);
  out.note('Each code works once instead of an authenticator code. Shown only once: store them.');
};

const renewCodes = requestCommand({
  name: 'recovery-codes',
  endpoint: renew,
  examples: ['', '> recovery-codes.txt', '--password-file - < ./password'],
  isPrivileged: true,
  notes: ['Remaining codes: adjutant whoami --json'],
  seeAlso: 'adjutant auth totp enable, adjutant login',
  show: (context, reply) => {
    if (context.out.format === 'json') context.out.json(reply);
    else give(context, reply.recoveryCodes);
    context.out.note('Earlier recovery codes are no longer valid.');
  },
});

const verifyCode = requestCommand({
  name: 'verify',
  args: '[code]',
  endpoint: verify,
  examples: ['287082', '', '287082 --json'],
  notes: ['Only tests the code. To finish the setup: adjutant auth totp enable'],
  more: codeFrom,
  show: ({ out }, verdict) => out.done('The code is valid.', verdict, buildColumns(['valid'])),
});

const disableCodes = requestCommand({
  name: 'disable',
  args: '[code]',
  endpoint: disable,
  examples: ['287082', '', '287082 --password-file - < ./password'],
  isPrivileged: true,
  notes: ['A recovery code works, too.'],
  more: codeFrom,
  show: ({ out }) => out.note('Logins no longer need a code.'),
});

export const totpGroup: CommandGroup = {
  commands: [setUp, enableCodes, verifyCode, renewCodes, disableCodes],
};

const removeTotp = userCrud.request({
  name: 'remove',
  args: '<user>',
  endpoint: removal,
  examples: [
    'bob --reason "ticket 41: a lost phone"',
    'bob --reason "ticket 41" --yes',
    'bob --reason "ticket 41" --yes --password-file - < ./password',
  ],
  except: ['password'],
  asks: ['password'],
  isPrivileged: true,
  notes: [
    'All login sessions of the user end. The user is notified on every channel, with the reason.',
  ],
  seeAlso: 'adjutant recover, adjutant users invite',
  confirm: ({ args: { user } }) =>
    `Remove the authenticator app of ${safe(user)}? All of their login sessions end.`,
  show: ({ out }, _, { args: { user } }) =>
    out.note(`Removed. ${safe(user)} now logs in with the password alone.`),
});

export const userTotp: CommandGroup = {
  summary: 'Manage authenticator apps of other users (admin)',
  commands: [removeTotp],
};

const users = await contracts.users();

const passkeyCrud = crud({
  noun: 'passkey',
  path: 'auth passkeys',
  rows: 'passkeys',
  endpoints: await contracts.passkeys(),
  columns: buildColumns<Passkey>(
    ['id:data', 'name'],
    { name: 'state', value: ({ works }) => (works ? 'works' : 'other address') },
    ['address=relyingParty', 'used=lastUsedAt:ago', 'added=createdAt:ago', 'short=id:tail'],
  ),
  named: (passkey) => passkey,
});

export const passkeysGroup: CommandGroup = {
  commands: [
    passkeyCrud.list({
      examples: ['', '--json', '--fields name,address'],
      next: (rows) => {
        if (rows.length === 0) return 'No passkeys. Add one in a browser: adjutant login --passkey';
        return rows.some(({ works }) => !works)
          ? 'Passkeys of another address work only there (ADJUTANT_PUBLIC_URL).'
          : undefined;
      },
    }),
    passkeyCrud.end({
      examples: ['"Ada’s phone"', '4ew6rt --yes', '4ew6rt'],
      ask: () => 'Delete this passkey? It can no longer be used to log in.',
      message: 'Deleted.',
    }),
  ],
  notes: ['Add one in a browser: adjutant login --passkey'],
};

const listPasskeys = listCommand({
  endpoint: users.passkeys,
  args: '<user>',
  examples: ['bob', 'bob --json', 'bob --fields name,used'],
  rows: 'passkeys',
  columns: buildColumns<AccountPasskey>(
    ['id:data', 'name', 'address=relyingParty', 'used=lastUsedAt:ago', 'added=createdAt:ago'],
    ['short=id:tail'],
  ),
  within: async (client, { user }) => ({ id: await userCrud.id(client, user) }),
  next: (rows) => (rows.length === 0 ? 'That user has no passkeys.' : undefined),
});

const removePasskey = userCrud.request({
  name: 'remove',
  args: '<user> <passkey>',
  endpoint: users['passkey-remove'],
  examples: [
    'bob "Bob’s phone" --reason "ticket 41: a lost phone"',
    'bob 4ew6rt --reason "ticket 41" --yes',
    'bob 4ew6rt --reason "ticket 41" --yes --password-file ./password',
  ],
  except: ['password'],
  asks: ['password'],
  isPrivileged: true,
  notes: [
    'All login sessions of the user end. The user is notified on every channel, with the reason.',
  ],
  seeAlso: 'adjutant recover, adjutant users passkeys list',
  within: async (client, id, { passkey }) => ({
    passkeyId: await resolvePasskeyId(client, id, passkey),
  }),
  confirm: ({ args: { user } }) =>
    `Remove this passkey of ${safe(user)}? All of their login sessions end.`,
  show: ({ out }) => out.note('Removed.'),
});

const resolvePasskeyId = (client: Client, id: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'passkey',
    listed: 'users passkeys list',
    page: namePages(
      'passkeys',
      (query) => client.users.passkeys({ id, query }),
      (passkey) => passkey,
    ),
  });

export const userPasskeys: CommandGroup = {
  summary: 'Manage passkeys of other users (admin)',
  commands: [listPasskeys, removePasskey],
};
