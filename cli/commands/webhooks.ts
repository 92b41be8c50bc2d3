import { contracts } from '../../src/client/index.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom, withArguments } from '../fields.js';
import { secretFrom } from '../input.js';
import { askNeeded } from '../prompt.js';
import { safe } from '../text.js';
import { webhookCrud, webhookTableColumns } from '../webhooks/columns.js';
import { deliveryResend, listDeliveries, webhookTest } from '../webhooks/deliveries.js';

const endpoints = await contracts.webhooks();

const secretFile = textFlag('<file|->', 'A secret of yours: whsec_ and base64; else one is made');
const SECRET = { ask: 'Secret of the webhook', instead: '--secret-file' };

const create = command({
  name: 'create',
  args: '[name] [url]',
  calls: [endpoints.create],
  examples: [
    'app https://app.example.org/in --events agent.completed,agent.failed',
    "all https://app.example.org/in --events '*' > secret.txt",
    'app https://app.example.org/in --events hook.failed --secret-file -',
  ],
  fields: () => requestFields(endpoints.create.body, ['secret']),
  flags: { secretFile },
  notes: ['A secret that is made goes to stdout alone, this once.'],
  seeAlso: 'adjutant help outgoing',
  run: async (context, { args, flags, fields }) => {
    const secret = await givenSecret(context, flags.secretFile);
    const isGiven = secret !== undefined || fields.credentialId !== undefined;
    if (!isGiven) needPlace(context);
    const given = withArguments(fields, args);
    const asked = await askNeeded(context, requestFields(endpoints.create.body), { fields: given });
    const filled = { fields: { ...given, ...asked }, more: { secret } };
    const body = await requestFrom(endpoints.create.body, filled, context.at);
    const made = await (await context.client()).webhooks.create({ body });
    if (made.secret === undefined || context.out.format === 'json') {
      return context.out.done(`Created ${safe(made.name)}.`, made, webhookTableColumns);
    }
    showSecret(context, made.secret);
    context.out.note(`Created ${safe(made.name)}. Give the receiver its secret, then try it:`);
    context.out.note(`adjutant webhooks test ${made.id.slice(-6)}`);
  },
});

const toggle = (name: 'enable' | 'disable', note: string) =>
  webhookCrud.act(name, endpoints.update, {
    summary: name === 'enable' ? 'Send to it, again' : 'Send to it no more',
    examples: [
      'app',
      '4ew6rt --json',
      `webhooks list --output id | xargs -n1 adjutant webhooks ${name}`,
    ],
    notes: [note],
    body: { enabled: name === 'enable' },
    said: (webhook) => `${safe(webhook.name)} is ${name}d.`,
  });

const rotateSecret = command({
  name: 'rotate-secret',
  args: '<webhook>',
  calls: [endpoints['rotate-secret']],
  examples: ['app --overlap-minutes 1440', 'app > secret.txt', 'app --secret-file - < ./secret'],
  fields: () => requestFields(endpoints['rotate-secret'].body, ['secret']),
  flags: { secretFile },
  notes: ['A secret that is made goes to stdout alone, this once.'],
  run: async (context, { args, flags, fields }) => {
    const secret = await givenSecret(context, flags.secretFile);
    if (secret === undefined) needPlace(context);
    const filled = { fields, more: { secret } };
    const body = await requestFrom(endpoints['rotate-secret'].body, filled, context.at);
    const { client, id } = await webhookCrud.find(context, args.webhook);
    const reply = await client.webhooks['rotate-secret']({ id, body });
    if (context.out.format === 'json') return context.out.json(reply);
    if (reply.secret !== undefined) showSecret(context, reply.secret);
    const old = reply.oldSecretUntil
      ? `signs, too, until ${reply.oldSecretUntil}`
      : 'signs no more';
    context.out.note(`The old one ${old}. Change it at the receiver.`);
  },
});

const givenSecret = async (
  context: Context,
  file: string | undefined,
): Promise<string | undefined> =>
  file === undefined ? undefined : secretFrom(context, file, SECRET);

/** Usage: an output that has no place for a secret that is to be made. */
const needPlace = ({ out, flags }: Context): void => {
  if (out.format !== 'id' && flags.fields === undefined) return;
  throw usageFault('This output has no place for the new secret. Bring your own: --secret-file');
};

const showSecret = ({ out }: Context, secret: string): void => {
  out.note('The new secret, shown this once:');
  out.line(secret);
};

export const webhooksGroup: CommandGroup = {
  commands: [
    webhookCrud.list({
      examples: ['', '--fields name,stats.failed', '--json'],
      next: (rows) => {
        if (rows.length === 0) return 'None. Make one: adjutant webhooks create <name> <url>';
        const off = rows.find(({ disabledReason }) => disabledReason !== null);
        if (!off) return undefined;
        return `${safe(off.name)} was disabled: adjutant webhooks get ${off.id.slice(-6)}`;
      },
      seeAlso: 'adjutant help outgoing',
    }),
    webhookCrud.get({ examples: ['app', 'app --json', 'app --fields url,events'] }),
    create,
    webhookCrud.update({
      examples: ["app --events '*'", 'app --url https://app.example.org/adjutant', 'app --edit'],
      notes: ['With another address what failed at the one before counts no more.'],
    }),
    webhookCrud.delete({
      examples: ['app', 'app --yes', '4ew6rt --yes'],
      ask: ({ name, stats }) => {
        const waiting = stats.waiting === 0 ? '' : ` ${stats.waiting} deliveries wait for it.`;
        return `Delete ${safe(name)} and the log of what it was sent?${waiting}`;
      },
    }),
    toggle('enable', 'What it missed stays unsent; what failed: webhooks resend.'),
    toggle('disable', 'What waits for it ends as failed, and can be sent again.'),
    listDeliveries,
    deliveryResend,
    webhookTest,
    rotateSecret,
  ],
};
