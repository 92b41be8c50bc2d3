import { type Credential, type CredentialVersion, contracts } from '../../src/client/index.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, switchFlag, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { usageFault } from '../exit.js';
import { readSecretInput } from '../input.js';
import { requestCommand } from '../request.js';
import { localTime, now, safe } from '../text.js';

const endpoints = await contracts.vault();

/** `due`: the credential should be rotated. */
const credentialState = ({ expiresAt, rotateDueAt }: Credential): 'good' | 'due' | 'expired' => {
  const isPast = (time: string | null) => time !== null && Date.parse(time) <= now();
  if (isPast(expiresAt)) return 'expired';
  return isPast(rotateDueAt) ? 'due' : 'good';
};

const columns = buildColumns<Credential>(
  ['id:data', 'name', 'type'],
  { name: 'state', value: credentialState, isState: true },
  ['version'],
  { name: 'tools', value: ({ allowedTools }) => allowedTools.join(' ') },
  { name: 'hosts', value: ({ allowedHosts }) => allowedHosts.join(' ') },
  ['expires=expiresAt:ago', 'used=lastUsedAt:ago'],
);

const credentialCrud = crud({
  noun: 'credential',
  path: 'vault',
  rows: 'credentials',
  endpoints,
  columns,
  named: (credential) => credential,
});

const versionColumns = buildColumns<CredentialVersion>(
  ['version', 'made=createdAt:ago'],
  formattedColumn('good until', ({ validUntil }) => validUntil, localTime, 'in use'),
);

const versions = credentialCrud.request({
  name: 'versions',
  args: '<credential>',
  endpoint: endpoints.versions,
  examples: ['github-pat', 'github-pat --json', 'github-hook'],
  show: ({ out }, reply) => out.page({ reply, rows: reply.versions, columns: versionColumns }),
});

const restore = credentialCrud.request({
  name: 'restore',
  args: '<credential>',
  endpoint: endpoints.restore,
  examples: ['github-pat', 'github-pat --version 2', 'github-pat --overlap-minutes 0'],
  except: [],
  notes: ['Its value becomes a new version. List the versions: adjutant vault versions'],
  show: ({ out }, now) => out.done(`Restored as version ${now.version}.`, now, columns),
});

const valueFile = textFlag(
  '<file|->',
  'File with the value. A line break at the end is ignored. If not set, the command asks for the value',
);
const passwordFile = textFlag(
  '<file|->',
  'File with your password. If not set, the command asks for the password',
);
const VALUE = {
  ask: 'Value',
  instead: '--value-file',
  refuse: (input: string) => (input === '' ? 'The value is empty.' : undefined),
};

const add = requestCommand({
  name: 'add',
  aliases: ['create'],
  args: '[name]',
  endpoint: endpoints.create,
  examples: [
    'github-pat --type api_key',
    'github-pat --allowed-tools http.request --allowed-hosts api.github.com',
    'github-hook --type webhook_secret --value-file - < ./secret',
  ],
  except: ['name', 'value'],
  asks: ['value'],
  areFields: true,
  flags: { valueFile },
  notes: ['The value is asked for, or read from a file or stdin. No flag takes a value.'],
  more: async (context, { flags }) => ({ value: await valueFrom(context, flags.valueFile) }),
  show: ({ out }, made) => out.done(`Stored ${safe(made.name)}.`, made, columns),
});

const rotate = credentialCrud.request({
  name: 'rotate',
  args: '<credential>',
  endpoint: endpoints.rotate,
  examples: [
    'github-hook --overlap-minutes 30',
    'github-pat',
    'github-pat --value-file - < ./token',
  ],
  except: ['value'],
  flags: {
    valueFile: textFlag(
      '<file|->',
      'File with the new value. A line break at the end is ignored. If not set, the command asks for the value, or generates a webhook_secret',
    ),
    ask: switchFlag('Ask for the new value, also for a webhook_secret'),
  },
  notes: [
    'The new value is asked for, or read from --value-file. A webhook_secret is ' +
      'generated instead.',
    'A value that another service issues, such as an API key, must first be created at that service.',
    'A generated value is printed to stdout, once.',
    'To restore the earlier value: adjutant vault restore',
  ],
  more: async (context, { flags, fields }, { client, at }) => {
    const isGiven = flags.ask === true || flags.valueFile !== undefined;
    const { type } = await client.call(endpoints.get, at);
    const isMade = fields.generate ?? type === 'webhook_secret';
    return isGiven || !isMade ? { value: await valueFrom(context, flags.valueFile) } : {};
  },
  say: ({ out }, { value, credential }) => {
    if (value !== undefined) {
      out.note('New value, shown only once:');
      out.line(value);
    }
    out.note(`Rotated: version ${credential.version}.`);
  },
});

const reveal = credentialCrud.request({
  name: 'reveal',
  args: '<credential>',
  endpoint: endpoints.reveal,
  examples: ['github-pat', 'github-pat --password-file - < ./password', 'github-pat --json'],
  flags: { passwordFile },
  notes: ['The value is printed to stdout. The audit log records the access.'],
  more: async (context, { flags }) => {
    const question = { ask: 'Password', instead: '--password-file' };
    return { password: await readSecretInput(context, flags.passwordFile, question) };
  },
  say: ({ out }, { value }) => out.line(value),
});

const rekey = requestCommand({
  name: 'rekey',
  endpoint: endpoints.rekey,
  examples: ['', '--yes', '--yes --json'],
  notes: [
    'Admins only. Back up keys/master.key afterwards. Older copies cannot open new ' + 'secrets.',
  ],
  confirm: () => 'Create a new master key? Earlier backups need the old one.',
  show: ({ out }, done) =>
    out.done(
      `${done.rewrapped} secrets are encrypted with the new key. Back up keys/master.key now.`,
      done,
      buildColumns(['rewrapped', 'finished=finishedAt:time']),
    ),
});

/**
 * Reads the value from a file or asks for it. A question takes one line, so a pasted value of
 * several lines is refused instead of being cut.
 */
const valueFrom = async (context: Context, file: string | undefined): Promise<string> => {
  const value = await readSecretInput(context, file, VALUE);
  if (file !== undefined || !context.ask.isAhead) return value;
  throw usageFault(
    'The value has several lines. Pass it with --value-file, or --value-file - for stdin.',
  );
};

export const vaultGroup: CommandGroup = {
  commands: [
    credentialCrud.list({
      examples: ['', '--type api_key --json', '--fields name,type,expires'],
      next: (rows) => {
        if (rows.length === 0) return 'No credentials. Store one: adjutant vault add <name>';
        const dueCredential = rows.find((one) => credentialState(one) !== 'good');
        return dueCredential && `Rotate it: adjutant vault rotate ${safe(dueCredential.name)}`;
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
      notes: ['This does not change the value. To change it: adjutant vault rotate'],
    }),
    rotate,
    versions,
    restore,
    reveal,
    credentialCrud.end({
      examples: ['github-pat', 'github-pat --yes', '4ew6rt --yes'],
      ask: (typed) => `Delete ${safe(typed)}? Its value cannot be recovered.`,
      message: 'Deleted.',
    }),
    rekey,
  ],
};
