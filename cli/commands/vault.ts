import { contracts } from '../../src/client/index.js';
import { shownAs } from '../columns.js';
import { type CommandGroup, command, on, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { secretFrom } from '../input.js';
import { askNeeded } from '../prompt.js';
import { safe } from '../text.js';
import { localTime } from '../times.js';
import {
  credentialColumns,
  credentialCrud,
  credentialRestore,
  credentialState,
  versions,
} from '../vault/versions.js';

const endpoints = await contracts.vault();

const valueFile = textFlag('<file|->', 'Where the value is; without it you are asked');
const passwordFile = textFlag('<file|->', 'Where your password is; without it you are asked');
const VALUE = {
  ask: 'Value',
  instead: '--value-file',
  refuse: (answer: string) => (answer === '' ? 'It is empty.' : undefined),
};

const add = command({
  name: 'add',
  aliases: ['create'],
  args: '[name]',
  calls: [endpoints.create],
  examples: [
    'github-pat --type api_key',
    'github-pat --allowed-tools http.request --allowed-hosts api.github.com',
    'github-hook --type webhook_secret --value-file - < ./secret',
  ],
  fields: () => requestFields(endpoints.create.body, ['name', 'value']),
  flags: { valueFile },
  notes: ['The value is asked for, or read from a file or stdin: never from the command line.'],
  run: async (context, { args, flags, fields }) => {
    const given = { ...fields, ...(args.name !== undefined && { name: args.name }) };
    const needed = requestFields(endpoints.create.body, ['value']);
    const asked = await askNeeded(context, needed, { fields: given });
    const value = await valueFrom(context, flags.valueFile);
    const filled = { fields: { ...given, ...asked }, more: { value } };
    const body = await requestFrom(endpoints.create.body, filled, context.at);
    const made = await (await context.client()).vault.create({ body });
    context.out.done(`Stored ${safe(made.name)}.`, made, credentialColumns);
  },
});

const rotate = command({
  name: 'rotate',
  args: '<credential>',
  calls: [endpoints.rotate],
  examples: [
    'github-hook --overlap-minutes 30',
    'github-pat',
    'github-pat --value-file - < ./token',
  ],
  fields: () => requestFields(endpoints.rotate.body, ['value']),
  flags: { valueFile, ask: on('Ask for the new value') },
  notes: [
    'The value is asked for; in a pipe it takes --value-file. For one that somebody else issues,',
    'get it there first. --generate makes one, as it is made for a webhook_secret: it goes to',
    'stdout alone, this once. The one before can be had back: adjutant vault restore',
  ],
  run: async (context, { args, flags, fields }) => {
    const { client, id } = await credentialCrud.find(context, args.credential);
    const isGiven = flags.ask === true || flags.valueFile !== undefined;
    const isMade = fields.generate ?? (await client.vault.get({ id })).type === 'webhook_secret';
    const value = isGiven || !isMade ? await valueFrom(context, flags.valueFile) : undefined;
    const body = await requestFrom(endpoints.rotate.body, { fields, more: { value } }, context.at);
    const reply = await client.vault.rotate({ id, body });
    if (context.out.format === 'json') return context.out.json(reply);
    if (reply.value !== undefined) {
      context.out.note('The new value, shown this once:');
      context.out.line(reply.value);
    }
    context.out.note(`Rotated: version ${reply.credential.version}.`);
  },
});

const reveal = command({
  name: 'reveal',
  args: '<credential>',
  calls: [endpoints.reveal],
  examples: ['github-pat', 'github-pat --password-file - < ./password', 'github-pat --json'],
  flags: { passwordFile },
  notes: ['It goes to stdout, and that it was shown into the audit log.'],
  run: async (context, { args, flags }) => {
    const { client, id } = await credentialCrud.find(context, args.credential);
    const question = { ask: 'Password', instead: '--password-file' };
    const password = await secretFrom(context, flags.passwordFile, question);
    const reply = await client.vault.reveal({ id, body: { password } });
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.line(reply.value);
  },
});

const rekey = command({
  name: 'rekey',
  calls: [endpoints.rekey],
  examples: ['', '--yes', '--yes --json'],
  notes: ['For admins. Back up keys/master.key afterwards: older copies of it open nothing new.'],
  run: async (context) => {
    await context.ask.confirm('Make a new master key? Backups from before need the old one.');
    const done = await (await context.client()).vault.rekey();
    context.out.done(
      `${done.rewrapped} secrets are under the new key. Back up keys/master.key now.`,
      done,
      [
        { name: 'rewrapped', value: ({ rewrapped }) => rewrapped },
        shownAs('finished', ({ finishedAt }) => finishedAt, localTime),
      ],
    );
  },
});

/** A question takes one line: of a key that is pasted, the rest would be lost unseen. */
const valueFrom = async (context: Context, file: string | undefined): Promise<string> => {
  const value = await secretFrom(context, file, VALUE);
  if (file !== undefined || !context.ask.isAhead) return value;
  throw usageFault(
    'The value has several lines. Give it by --value-file, or --value-file - for stdin.',
  );
};

export const vaultGroup: CommandGroup = {
  commands: [
    credentialCrud.list({
      examples: ['', '--type api_key --json', '--fields name,type,expires'],
      next: (rows) => {
        if (rows.length === 0) return 'No credentials. Store one: adjutant vault add <name>';
        const worn = rows.find((one) => credentialState(one) !== 'good');
        return worn && `A new value: adjutant vault rotate ${safe(worn.name)}`;
      },
    }),
    credentialCrud.get({
      examples: ['github-pat', 'github-pat --json', 'github-pat --fields version,rotatedAt'],
    }),
    add,
    credentialCrud.update({
      examples: [
        'github-pat --allowed-hosts api.github.com',
        'github-pat --expires-at 2027-01-31',
        'github-pat --rotate-every-days 90',
        'github-pat --edit',
      ],
      notes: ['Its value is no part of it: adjutant vault rotate.'],
    }),
    rotate,
    versions,
    credentialRestore,
    reveal,
    credentialCrud.end({
      examples: ['github-pat', 'github-pat --yes', '4ew6rt --yes'],
      ask: (typed) => `Delete ${safe(typed)}? Its value is gone for good.`,
      said: 'Deleted.',
    }),
    rekey,
  ],
};
