import {
  type Client,
  contracts,
  type OutgoingWebhook,
  type WebhookDelivery,
} from '../../src/client/index.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command, textFlag } from '../command.js';
import { crud } from '../crud.js';
import { Exit, usageFault } from '../exit.js';
import { requestFields, requestFrom, withArguments } from '../fields.js';
import { readSecretInput } from '../input.js';
import { bulkFlags, refuseBulkFlags, workOnFailed } from '../operations/bulk.js';
import { namePages } from '../pages.js';
import { askNeeded, listCommand } from '../request.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { cutToWidth, duration, oneLine, safe } from '../text.js';
import { changedHeadersFile, headersFile, headersFrom } from '../webhooks/headers.js';

const endpoints = await contracts.webhooks();
const resends = await contracts.resends();

const formatWebhookState = ({ enabled, stats }: OutgoingWebhook): string => {
  if (!enabled) return 'disabled';
  return stats.failingSince === null ? 'enabled' : 'failing';
};

const columns = buildColumns<OutgoingWebhook>(
  ['id:data', 'name'],
  { name: 'state', value: formatWebhookState, isState: true },
  { name: 'events', value: ({ events }) => events.join(' ') },
  ['url', 'sent=stats.sent:number', 'failed=stats.failed:number', 'waiting=stats.waiting:number'],
  ['last=stats.lastDeliveryAt:ago', 'reason=disabledReason:data', 'rate=ratePerMinute:data'],
  { name: 'headers', value: ({ headerNames }) => headerNames.join(' '), only: 'data' },
);

const deliveryColumns = buildColumns<WebhookDelivery>(
  ['id:data', 'time=createdAt:time', 'status:state', 'event'],
  { name: 'attempts', value: ({ attempts }) => attempts.length, isNumber: true },
  { name: 'code', value: ({ attempts }) => attempts.at(-1)?.statusCode },
  {
    ...formattedColumn('took', ({ attempts }) => attempts.at(-1)?.durationMs, duration),
    isNumber: true,
  },
  ['next=nextAttemptAt:time', 'short=id:tail', 'error'],
  { name: 'response', value: ({ attempts }) => attempts.at(-1)?.response, only: 'data' },
);

const webhookCrud = crud({
  noun: 'webhook',
  rows: 'webhooks',
  endpoints,
  columns,
  named: (webhook) => webhook,
});

const deliveryId = (client: Client, id: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'sending',
    called: 'delivery',
    listed: `webhooks deliveries ${id.slice(-6)}`,
    pages: NEWEST_PAGES,
    page: namePages(
      'deliveries',
      (query) => client.webhooks.deliveries({ id, query }),
      (delivery) => ({ id: delivery.id, name: delivery.id }),
    ),
  });

const listDeliveries = listCommand({
  endpoint: endpoints.deliveries,
  name: 'deliveries',
  args: '<webhook>',
  examples: ['app', 'app --status failed', 'app --limit 1 --json'],
  rows: 'deliveries',
  columns: deliveryColumns,
  within: async (client, { webhook }) => ({ id: await webhookCrud.id(client, webhook) }),
  next: (rows, { webhook }) => {
    if (rows.length === 0) return `No deliveries. Send a test: adjutant webhooks test ${webhook}`;
    const failed = rows.find(({ status }) => status === 'failed');
    return failed && `Resend it: adjutant webhooks resend ${webhook} ${failed.id.slice(-6)}`;
  },
  seeAlso: 'adjutant webhooks resend; --json shows the reply to each attempt',
});

const resend = command({
  name: 'resend',
  args: '[webhook] [delivery]',
  summary: 'Resend one delivery or all failed deliveries',
  calls: [endpoints.resend, resends.webhooks],
  examples: [
    'app 4ew6rt',
    'app 4ew6rt --json',
    '--failed --since 2h',
    'app --failed --since 2026-01-31T09:30 --yes',
  ],
  fields: () => requestFields(resends.webhooks.body, ['webhookId', 'since', 'until', 'dryRun']),
  flags: bulkFlags,
  notes: [
    'The receiver sees the same webhook-id and may report a duplicate.',
    '--failed lists the deliveries and asks. Unknown outcomes are included only with --status.',
  ],
  seeAlso: 'adjutant operations',
  run: async (context, { args, flags, fields }) => {
    const { webhook, delivery } = args;
    const client = await context.client();
    if (flags.failed) {
      const webhookId = webhook === undefined ? undefined : await webhookCrud.id(client, webhook);
      return workOnFailed(
        context,
        { flags, fields },
        {
          schema: resends.webhooks.body,
          more: { webhookId },
          send: (body, how) => client.resends.webhooks({ body: { ...body, ...how } }),
          noun: 'message',
          verb: 'Resend',
        },
      );
    }
    refuseBulkFlags(flags);
    if (webhook === undefined || delivery === undefined) {
      throw usageFault(
        'Pass a webhook and a delivery, or all failed deliveries: --failed --since 2h',
      );
    }
    const id = await webhookCrud.id(client, webhook);
    const again = await client.webhooks.resend({
      id,
      deliveryId: await deliveryId(client, id, delivery),
    });
    context.out.done('Queued again.', again, deliveryColumns);
    context.out.note(`Check the outcome: adjutant webhooks deliveries ${oneLine(webhook)}`);
  },
});

const test = webhookCrud.request({
  name: 'test',
  args: '<webhook>',
  endpoint: endpoints.test,
  examples: ['app', 'app --json', 'app --quiet && echo it arrives'],
  notes: [
    'Waits at most 15 seconds. Exit code 1: the event did not arrive.',
    'The test is not recorded, but a success ends the failing state of a webhook.',
  ],
  show: (context, reply) => {
    const { out } = context;
    const { delivered, statusCode, error, response } = reply;
    if (!delivered) context.exitCode = Exit.failed;
    out.done(
      delivered ? `Delivered: ${statusCode}.` : `Not delivered: ${oneLine(error ?? '')}.`,
      reply,
      buildColumns(['delivered', 'code=statusCode', 'took=durationMs:number', 'response', 'error']),
    );
    if (out.format === 'table' && response) {
      out.note(cutToWidth(`Response: ${oneLine(response)}`, out.width));
    }
  },
});

const secretFile = textFlag(
  '<file|->',
  'File with your own secret (whsec_ and base64). If not set, a secret is generated',
);
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
  fields: () => requestFields(endpoints.create.body, ['secret', 'headers']),
  flags: { secretFile, headersFile },
  notes: ['A generated secret is printed to stdout, once.'],
  seeAlso: 'adjutant help outgoing',
  run: async (context, { args, flags, fields }) => {
    const secret = await givenSecret(context, flags.secretFile);
    const isGiven = secret !== undefined || fields.credentialId !== undefined;
    if (!isGiven) needPlace(context);
    const input = withArguments(fields, args);
    const answers = await askNeeded(context, requestFields(endpoints.create.body), {
      fields: input,
    });
    const headers = await headersFrom(context, flags.headersFile);
    const filled = { fields: { ...input, ...answers }, more: { secret, headers } };
    const body = await requestFrom(endpoints.create.body, filled, context.at);
    const made = await (await context.client()).webhooks.create({ body });
    if (made.secret === undefined || context.out.format === 'json') {
      return context.out.done(`Created ${safe(made.name)}.`, made, columns);
    }
    showSecret(context, made.secret);
    context.out.note(`Created ${safe(made.name)}. Give the secret to the receiver, then test it:`);
    context.out.note(`adjutant webhooks test ${made.id.slice(-6)}`);
  },
});

const toggle = (name: 'enable' | 'disable', note: string) =>
  webhookCrud.act(name, endpoints.update, {
    summary: name === 'enable' ? 'Enable a webhook' : 'Disable a webhook',
    examples: [
      'app',
      '4ew6rt --json',
      `webhooks list --output id | xargs -n1 adjutant webhooks ${name}`,
    ],
    notes: [note],
    body: { enabled: name === 'enable' },
    message: (webhook) => `${safe(webhook.name)} is ${name}d.`,
  });

const rotateSecret = webhookCrud.request({
  name: 'rotate-secret',
  args: '<webhook>',
  endpoint: endpoints['rotate-secret'],
  examples: ['app --overlap-minutes 1440', 'app > secret.txt', 'app --secret-file - < ./secret'],
  except: ['secret'],
  flags: { secretFile },
  notes: ['A generated secret is printed to stdout, once.'],
  more: async (context, { flags }) => {
    const secret = await givenSecret(context, flags.secretFile);
    if (secret === undefined) needPlace(context);
    return { secret };
  },
  say: (context, { secret, oldSecretUntil }) => {
    if (secret !== undefined) showSecret(context, secret);
    const old = oldSecretUntil ? `also signs until ${oldSecretUntil}` : 'no longer signs';
    context.out.note(`The old secret ${old}. Change it at the receiver.`);
  },
});

const givenSecret = async (
  context: Context,
  file: string | undefined,
): Promise<string | undefined> =>
  file === undefined ? undefined : readSecretInput(context, file, SECRET);

/** Throws if the output cannot show a new secret: `--output id` and `--fields`. */
const needPlace = ({ out, flags }: Context): void => {
  if (out.format !== 'id' && flags.fields === undefined) return;
  throw usageFault('This output cannot show the new secret. Pass your own: --secret-file');
};

const showSecret = ({ out }: Context, secret: string): void => {
  out.note('New secret, shown only once:');
  out.line(secret);
};

export const webhooksGroup: CommandGroup = {
  commands: [
    webhookCrud.list({
      examples: ['', '--fields name,stats.failed', '--json'],
      next: (rows) => {
        if (rows.length === 0)
          return 'No webhooks. Create one: adjutant webhooks create <name> <url>';
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
      notes: ['After a change of the URL, earlier failures no longer count.'],
      flags: { headersFile: changedHeadersFile },
      except: ['headers'],
      secrets: ['headers'],
      body: async (context, { flags, fields, data }) => {
        const more = { headers: await headersFrom(context, flags.headersFile) };
        return requestFrom(endpoints.update.body, { fields, data, more }, context.at);
      },
    }),
    webhookCrud.delete({
      examples: ['app', 'app --yes', '4ew6rt --yes'],
      ask: ({ name, stats }) => {
        const waiting = stats.waiting === 0 ? '' : ` ${stats.waiting} deliveries are waiting.`;
        return `Delete ${safe(name)} and its delivery log?${waiting}`;
      },
    }),
    toggle('enable', 'Missed events are not sent. Resend failed deliveries: webhooks resend.'),
    toggle('disable', 'Waiting deliveries end as failed and can be resent.'),
    listDeliveries,
    resend,
    test,
    rotateSecret,
  ],
};
