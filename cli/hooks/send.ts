import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { ApiError } from '../../src/client/errors.js';
import type { Hook } from '../../src/client/index.js';
import { columnsOf } from '../columns.js';
import { command, on, textFlag } from '../command.js';
import { type CliFault, failed, usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';
import { countOf, plainText } from '../text.js';
import {
  type DeliveryReceipt,
  deliver,
  hookSample,
  isSigningToken,
  sampleNames,
} from './delivery.js';
import { addressesOf, givenSecret, hookCrud } from './hook.js';

const columns = columnsOf<DeliveryReceipt>(['delivery=deliveryId'], {
  name: 'executions',
  value: (receipt) => (receipt.executions ?? []).join(','),
});

export const sendHook = command({
  name: 'send',
  args: '<hook> [file]',
  summary: 'Sign a payload and deliver it, as the sender would',
  examples: [
    'github-issues --sample github/issues.opened',
    'github-issues issue.json --secret-file secret.txt',
    'refunds --sample stripe/refund.created --secret-file secret.txt',
    'echo \'{"action":"opened"}\' | adjutant hooks send github-issues - --secret-file secret.txt',
    'gitlab push.json --incoming --event push --secret-file secret.txt',
  ],
  flags: {
    secretFile: textFlag('<file|->', 'Where the secret is, instead of being asked for it'),
    event: textFlag('<name>', 'The event, in the header of its sender'),
    sample: {
      value: '<name>',
      about: `In place of a file: ${sampleNames.join(', ')}`,
      values: sampleNames,
      read: hookSample,
    },
    incoming: on('To the other receiver, with the secret in a header instead of a signature'),
  },
  notes: ['`-` reads the payload from stdin.'],
  seeAlso: 'adjutant hooks listen, adjutant help signatures',
  run: async (context, { args, flags }) => {
    const { file } = args;
    if ((file === undefined) === (flags.sample === undefined)) {
      throw usageFault(
        'Give a file with the payload, or --sample.',
        `Samples: ${sampleNames.join(', ')}`,
      );
    }
    if (file === '-' && flags.secretFile === '-')
      throw usageFault('Only one of the two can be stdin.');
    const client = await context.client();
    const hook = await client.hooks.get({ id: await hookCrud.id(client, args.hook) });
    if (hook.trigger !== 'webhook') throw failed(`${hook.name} is fired by ${hook.trigger} alone.`);
    const payload =
      file === undefined
        ? JSON.stringify(flags.sample?.payload)
        : await readFileOrStdin(context, file);
    const secret = await givenSecret(context, flags.secretFile);
    const { event = flags.sample?.event, sample } = flags;
    // Without a signing token GitLab shows its secret instead.
    const isShown = sample?.sender === 'gitlab' && !isSigningToken(secret);
    const isBare = flags.incoming ?? isShown;
    const to = addressesOf(client.url, hook)[isBare ? 'incoming' : 'signed'];
    const path = to.slice(client.url.length);
    const { sender } = sample ?? {};
    const delivery = { path, secret, payload, id: randomUUID(), event, sender, isBare };
    const began = performance.now();
    const { status, body: receipt } = await deliver(client, delivery).catch((error) => {
      throw error instanceof ApiError ? refusal(error, hook) : error;
    });
    const ms = Math.round(performance.now() - began);
    const how = isBare ? 'with its secret' : 'signed';
    context.out.note(`POST ${to}   ${Buffer.byteLength(payload)} bytes, ${how}`);
    if (context.out.format !== 'table') return context.out.item(receipt, columns);
    context.out.line(`${status} in ${ms} ms   ${outcomeText(receipt)}`);
    const [execution] = receipt.executions ?? [];
    if (execution) context.out.note(next(hook, execution));
  },
});

const refusal = ({ statusCode, message }: ApiError, hook: Hook): CliFault => {
  const remedies: Record<number, string> = {
    401: `The secret differs. Make a new one: adjutant hooks rotate-secret ${hook.name}`,
    404: `Nothing receives there. Look: adjutant hooks get ${hook.name}`,
    415: 'The payload must be JSON.',
  };
  const remedy = remedies[statusCode];
  return failed(`Refused with ${statusCode}: ${message}.`, ...(remedy ? [remedy] : []));
};

const outcomeText = ({
  duplicate,
  accepted,
  hooks,
  deliveryId,
  executions = [],
}: DeliveryReceipt): string => {
  if (duplicate) return 'a duplicate: nothing ran again';
  if (!accepted) return 'received, and every hook there is disabled';
  const count = countOf(hooks ?? 0, 'hook');
  return `delivery ${tail(plainText(deliveryId))}   ${count}   execution ${executions.map(tail).join(', ')}`;
};

const next = ({ action, name }: Hook, execution: string): string =>
  action === 'spawn_agent'
    ? `Follow it: adjutant agents tail --execution ${tail(execution)}`
    : `What came of it: adjutant hooks execution ${name} ${tail(execution)}`;

const tail = (id: string): string => id.slice(-6);
