import { contracts, type Reply } from '../../src/client/index.js';
import { freshPasswordFile, withPassword } from '../auth/password.js';
import type { TableColumn } from '../columns.js';
import { type CommandGroup, command } from '../command.js';
import type { Context } from '../context.js';

const endpoints = await contracts.totp();
const { setup, enable, verify, disable } = endpoints;
const passwordFile = freshPasswordFile;

type TotpSetup = Reply<'totp', 'setup'>;

const setupColumns: TableColumn<TotpSetup>[] = [
  { name: 'secret', value: (made) => made.secret },
  { name: 'address', value: (made) => made.otpauthUrl },
];

const setUp = command({
  name: 'setup',
  calls: [setup],
  examples: ['', '--password-file - < ./password', '--json'],
  flags: { passwordFile },
  notes: ['On a terminal it draws the QR code that an authenticator app reads.'],
  seeAlso: 'adjutant auth totp enable',
  run: async (context, { flags }) => {
    const client = await context.client();
    const made = await withPassword(context, flags.passwordFile, (body) =>
      client.totp.setup({ body }),
    );
    if (context.out.format !== 'table') context.out.item(made, setupColumns);
    else await show(context, made);
    context.out.note('Then, with a code of the app: adjutant auth totp enable');
  },
});

/** The address as what an app reads, and beside it what a person may type. */
const show = async ({ out }: Context, { secret, otpauthUrl }: TotpSetup): Promise<void> => {
  const qr = await import('qrcode');
  out.note(await qr.toString(otpauthUrl, { type: 'terminal', small: true }));
  out.facts([
    ['secret', secret],
    ['address', otpauthUrl],
  ]);
};

const enableCodes = command({
  name: 'enable',
  args: '[code]',
  calls: [enable],
  examples: ['287082', '287082 > recovery-codes.txt', ''],
  seeAlso: 'adjutant auth totp setup',
  run: async (context, { args }) => {
    const code = await codeFrom(context, args.code);
    give(context, await (await context.client()).totp.enable({ body: { code } }));
  },
});

const give = ({ out }: Context, reply: { recoveryCodes: string[] }): void => {
  if (out.format === 'json') {
    out.json(reply);
    return;
  }
  for (const each of reply.recoveryCodes) out.line(each);
  out.note('Each of these serves once in place of a code. Shown this once: keep them.');
};

const renewCodes = command({
  name: 'recovery-codes',
  calls: [endpoints['recovery-codes']],
  examples: ['', '> recovery-codes.txt', '--password-file - < ./password'],
  flags: { passwordFile },
  notes: ['How many are left: adjutant whoami --json'],
  seeAlso: 'adjutant auth totp enable, adjutant login',
  run: async (context, { flags }) => {
    const client = await context.client();
    const reply = await withPassword(context, flags.passwordFile, (body) =>
      client.totp['recovery-codes']({ body }),
    );
    give(context, reply);
    context.out.note('The ones before serve no more.');
  },
});

const verifyCode = command({
  name: 'verify',
  args: '[code]',
  calls: [verify],
  examples: ['287082', '', '287082 --json'],
  run: async (context, { args }) => {
    const code = await codeFrom(context, args.code);
    const verdict = await (await context.client()).totp.verify({ body: { code } });
    context.out.done('Right.', verdict, [{ name: 'valid', value: ({ valid }) => valid }]);
  },
});

const disableCodes = command({
  name: 'disable',
  args: '[code]',
  calls: [disable],
  examples: ['287082', '', '287082 --password-file - < ./password'],
  flags: { passwordFile },
  notes: ['A recovery code serves too.'],
  run: async (context, { args, flags }) => {
    const code = await codeFrom(context, args.code);
    const client = await context.client();
    await withPassword(context, flags.passwordFile, ({ password }) =>
      client.totp.disable({ body: { code, password } }),
    );
    context.out.note('Logins need no code any more.');
  },
});

const codeFrom = async (context: Context, given: string | undefined): Promise<string> =>
  given ?? context.ask.text({ ask: 'Code', instead: 'the code as an argument' });

export const totpGroup: CommandGroup = {
  commands: [setUp, enableCodes, verifyCode, renewCodes, disableCodes],
};
