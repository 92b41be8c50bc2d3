import { contracts } from '../../src/client/index.js';
import { fieldColumns } from '../columns.js';
import { command } from '../command.js';
import { Exit } from '../exit.js';
import { listCommand } from '../list.js';
import { cutToWidth, oneLine } from '../text.js';
import { deliveryColumns, deliveryId, webhookCrud } from './columns.js';

const endpoints = await contracts.webhooks();

export const listDeliveries = listCommand({
  endpoint: endpoints.deliveries,
  name: 'deliveries',
  args: '<webhook>',
  examples: ['app', 'app --status failed', 'app --limit 1 --json'],
  rows: 'deliveries',
  columns: deliveryColumns,
  within: async (client, { webhook }) => ({ id: await webhookCrud.id(client, webhook) }),
  next: (rows, { webhook }) => {
    if (rows.length === 0) return `Nothing was sent. Try it: adjutant webhooks test ${webhook}`;
    const failed = rows.find(({ status }) => status === 'failed');
    if (!failed) return undefined;
    return `Send it again: adjutant webhooks resend ${webhook} ${failed.id.slice(-6)}`;
  },
  seeAlso: 'adjutant webhooks resend; with --json what each attempt was answered',
});

export const deliveryResend = command({
  name: 'resend',
  args: '<webhook> <delivery>',
  calls: [endpoints.resend],
  examples: [
    'app 4ew6rt',
    'app 4ew6rt --json',
    'webhooks deliveries app --output id | xargs -n1 adjutant webhooks resend app',
  ],
  notes: ['The receiver knows it by its webhook-id, and may say that it has it already.'],
  run: async (context, { args }) => {
    const { client, id } = await webhookCrud.find(context, args.webhook);
    const delivery = await deliveryId(client, id, args.delivery);
    const again = await client.webhooks.resend({ id, deliveryId: delivery });
    context.out.done('It goes again.', again, deliveryColumns);
    context.out.note(`What came of it: adjutant webhooks deliveries ${oneLine(args.webhook)}`);
  },
});

export const webhookTest = command({
  name: 'test',
  args: '<webhook>',
  calls: [endpoints.test],
  examples: ['app', 'app --json', 'app --quiet && echo it arrives'],
  notes: [
    'Waits 15 seconds at most. Exit 1 where it did not arrive.',
    'Nothing of it is kept, but that an endpoint that failed works again.',
  ],
  run: async (context, { args }) => {
    const { client, id } = await webhookCrud.find(context, args.webhook);
    const reply = await client.webhooks.test({ id });
    if (!reply.delivered) context.exitCode = Exit.failed;
    const said = reply.delivered
      ? `It arrived: ${reply.statusCode}.`
      : `It did not arrive: ${oneLine(reply.error ?? '')}.`;
    context.out.done(said, reply, [
      { name: 'delivered', value: ({ delivered }) => delivered },
      { name: 'code', value: ({ statusCode }) => statusCode },
      { name: 'took', value: ({ durationMs }) => durationMs, isNumber: true },
      ...fieldColumns('response', 'error'),
    ]);
    if (context.out.format === 'table' && reply.response) {
      context.out.note(cutToWidth(`It said: ${oneLine(reply.response)}`, context.out.width));
    }
  },
});
