import { contracts } from '../../src/client/index.js';
import { type Command, command, type Group, text } from '../command.js';
import type { Context } from '../context.js';
import { changedByEditor, editFlag, isEdited } from '../editing.js';
import { usage } from '../exit.js';
import { fieldsOf, requestFrom, withArguments } from '../fields.js';
import { secretFrom } from '../input.js';
import { listing } from '../listing.js';
import { askNeeded } from '../needed.js';
import { safe } from '../text.js';
import { webhookColumns, webhookId } from '../webhooks/columns.js';
import { listDeliveries, resendDelivery, testWebhook } from '../webhooks/deliveries.js';

const endpoints = await contracts.webhooks();

const secretFile = text('<file|->', 'A secret of yours: whsec_ and base64; else one is made');
const SECRET = { ask: 'Secret of the webhook', instead: '--secret-file' };

const list = listing({
  name: 'list',
  args: '',
  summary: endpoints.list.summary,
  examples: ['', '--fields name,stats.failed', '--json'],
  query: endpoints.list.query,
  key: 'webhooks',
  columns: webhookColumns,
  open: async (context) => {
    const client = await context.client();
    return (query) => client.webhooks.list({ query });
  },
  next: (rows) => {
    if (rows.length === 0) return 'None. Make one: adjutant webhooks create <name> <url>';
    const off = rows.find(({ disabledReason }) => disabledReason !== null);
    if (!off) return undefined;
    return `${safe(off.name)} was disabled: adjutant webhooks get ${off.id.slice(-6)}`;
  },
  seeAlso: 'adjutant help outgoing',
});

const get = command({
  name: 'get',
  args: '<webhook>',
  summary: endpoints.get.summary,
  examples: ['app', 'app --json', 'app --fields url,events'],
  run: async (context, { args }) => {
    const client = await context.client();
    const id = await webhookId(client, args.webhook);
    context.out.item(await client.webhooks.get({ id }), webhookColumns);
  },
});

const create = command({
  name: 'create',
  args: '[name] [url]',
  summary: endpoints.create.summary,
  examples: [
    'app https://app.example.org/in --events agent.completed,agent.failed',
    "all https://app.example.org/in --events '*' > secret.txt",
    'app https://app.example.org/in --events hook.failed --secret-file -',
  ],
  fields: () => fieldsOf(endpoints.create.body, ['secret']),
  flags: { secretFile },
  notes: ['A secret that is made goes to stdout alone, this once.'],
  seeAlso: 'adjutant help outgoing',
  run: async (context, { args, flags, fields }) => {
    const secret = await givenSecret(context, flags.secretFile);
    const isGiven = secret !== undefined || fields.credentialId !== undefined;
    if (!isGiven) needPlace(context);
    const given = withArguments(fields, args);
    const asked = await askNeeded(context, fieldsOf(endpoints.create.body), { fields: given });
    const filled = { fields: { ...given, ...asked }, more: { secret } };
    const body = await requestFrom(endpoints.create.body, filled, context.at);
    const made = await (await context.client()).webhooks.create({ body });
    if (made.secret === undefined || context.out.format === 'json') {
      return context.out.done(`Created ${safe(made.name)}.`, made, webhookColumns);
    }
    showSecret(context, made.secret);
    context.out.note(`Created ${safe(made.name)}. Give the receiver its secret, then try it:`);
    context.out.note(`adjutant webhooks test ${made.id.slice(-6)}`);
  },
});

const update = command({
  name: 'update',
  args: '<webhook>',
  summary: endpoints.update.summary,
  examples: ["app --events '*'", 'app --url https://app.example.org/adjutant', 'app --edit'],
  fields: () => fieldsOf(endpoints.update.body),
  takesData: true,
  flags: { edit: editFlag },
  notes: ['With another address what failed at the one before counts no more.'],
  run: async (context, given) => {
    const schema = endpoints.update.body;
    const { args, fields, data } = given;
    const isByEditor = isEdited(context, given);
    const body = isByEditor ? undefined : await requestFrom(schema, { fields, data }, context.at);
    const client = await context.client();
    const id = await webhookId(client, args.webhook);
    const changed = body
      ? await client.webhooks.update({ id, body })
      : await changedByEditor(context, {
          noun: 'webhook',
          schema,
          present: await client.webhooks.get({ id }),
          send: (changes) => client.webhooks.update({ id, body: changes }),
        });
    if (changed) context.out.done(`Changed ${safe(changed.name)}.`, changed, webhookColumns);
  },
});

const remove = command({
  name: 'delete',
  args: '<webhook>',
  summary: endpoints.delete.summary,
  examples: ['app', 'app --yes', '4ew6rt --yes'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { id, name, stats } = await client.webhooks.get({
      id: await webhookId(client, args.webhook),
    });
    const waiting = stats.waiting === 0 ? '' : ` ${stats.waiting} deliveries wait for it.`;
    await context.ask.confirm(`Delete ${safe(name)} and the log of what it was sent?${waiting}`);
    await client.webhooks.delete({ id });
    context.out.done(`Deleted ${safe(name)}.`);
  },
});

const toggle = (name: 'enable' | 'disable', notes: string[]): Command<'<webhook>'> =>
  command({
    name,
    args: '<webhook>',
    summary: name === 'enable' ? 'Send to it, again' : 'Send to it no more',
    examples: [
      'app',
      '4ew6rt --json',
      `webhooks list --output id | xargs -n1 adjutant webhooks ${name}`,
    ],
    notes,
    run: async (context, { args }) => {
      const client = await context.client();
      const id = await webhookId(client, args.webhook);
      const changed = await client.webhooks.update({ id, body: { enabled: name === 'enable' } });
      context.out.done(`${safe(changed.name)} is ${name}d.`, changed, webhookColumns);
    },
  });

const rotateSecret = command({
  name: 'rotate-secret',
  args: '<webhook>',
  summary: endpoints['rotate-secret'].summary,
  examples: ['app --overlap-minutes 1440', 'app > secret.txt', 'app --secret-file - < ./secret'],
  fields: () => fieldsOf(endpoints['rotate-secret'].body, ['secret']),
  flags: { secretFile },
  notes: ['A secret that is made goes to stdout alone, this once.'],
  run: async (context, { args, flags, fields }) => {
    const secret = await givenSecret(context, flags.secretFile);
    if (secret === undefined) needPlace(context);
    const filled = { fields, more: { secret } };
    const body = await requestFrom(endpoints['rotate-secret'].body, filled, context.at);
    const client = await context.client();
    const id = await webhookId(client, args.webhook);
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
  throw usage('This output has no place for the new secret. Bring your own: --secret-file');
};

const showSecret = ({ out }: Context, secret: string): void => {
  out.note('The new secret, shown this once:');
  out.line(secret);
};

export const webhooks: Group = {
  name: 'webhooks',
  summary: 'Whom Adjutant tells, signed, when something happened',
  commands: [
    list,
    get,
    create,
    update,
    remove,
    toggle('enable', ['What it missed stays unsent; what failed: webhooks resend.']),
    toggle('disable', ['What waits for it ends as failed, and can be sent again.']),
    listDeliveries,
    resendDelivery,
    testWebhook,
    rotateSecret,
  ],
};
