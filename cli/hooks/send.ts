import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { ApiError } from '../../src/client/errors.js';
import { type Hook, loadSenders } from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { type CliFault, failed, usageFault } from '../exit.js';
import { readFileOrStdin } from '../input.js';
import { formatCount, plainText } from '../text.js';
import { publicAddress } from '../tunnel/address.js';
import { type DeliveryReceipt, deliver } from './delivery.js';
import { hookCrud, readHookSecret } from './hook.js';
import { freshPayload, hookSample, sampleNames } from './sample.js';
import { buildReceiverAddresses, isSignedByAmazon, secretRemedy } from './senders/form.js';
import { isToken, type ResolvedSignature, resolveSignature } from './senders/signature.js';

const { PRESET_NAMES, InvalidSigningSecret } = await loadSenders();

const columns = buildColumns<DeliveryReceipt>(
  ['delivery=deliveryId'],
  { name: 'executions', value: (receipt) => (receipt.executions ?? []).join(',') },
  { name: 'outcome', value: (receipt) => getDeliveryOutcome(receipt) },
);

export const sendHook = command({
  name: 'send',
  args: '<hook> [file]',
  summary: 'Send a signed test payload to a hook',
  examples: [
    'github-issues --sample github/issues.opened',
    'github-issues issue.json --secret-file secret.txt',
    'refunds --sample stripe/refund.created --secret-file secret.txt',
    'alerts alert.json --as grafana --secret-file secret.txt',
    'echo \'{"action":"opened"}\' | adjutant hooks send github-issues - --secret-file secret.txt',
    'gitlab push.json --incoming --event push --secret-file secret.txt',
  ],
  flags: {
    secretFile: textFlag(
      '<file|->',
      'File with the secret. If not set, the command asks for the secret',
    ),
    event: textFlag(
      '<name>',
      'Event name, sent in the event header of the sender. Ignored for senders without this header',
    ),
    sample: {
      value: '<name>',
      about: `Sample to send instead of a file: ${sampleNames.join(', ')}`,
      values: sampleNames,
      read: hookSample,
    },
    as: {
      value: '<sender>',
      about: `Sender whose signature format is used, instead of the format of the hook: ${PRESET_NAMES.join(', ')}`,
      values: PRESET_NAMES,
      read: (input) => {
        const preset = PRESET_NAMES.find((name) => name === input);
        if (preset) return preset;
        throw usageFault(
          `Unknown sender "${input}" for --as.`,
          `Senders: ${PRESET_NAMES.join(', ')}`,
        );
      },
    },
    incoming: switchFlag(
      'Send to /api/hooks/incoming, with the secret in a header instead of a signature',
    ),
  },
  notes: [
    '`-` reads the payload from stdin.',
    'Default signature format: the verify settings of the hook, else the format of the sample or of GitHub.',
    'For Ed25519 the secret is the private key, as PEM.',
  ],
  seeAlso: 'adjutant hooks listen, adjutant help signatures',
  run: async (context, { args, flags }) => {
    const { file } = args;
    if ((file === undefined) === (flags.sample === undefined)) {
      throw usageFault(
        'Pass a file with the payload, or --sample.',
        `Samples: ${sampleNames.join(', ')}`,
      );
    }
    if (file === '-' && flags.secretFile === '-')
      throw usageFault(
        'Only one of the payload and the secret can be read from stdin. Pass the other as a file.',
      );
    const client = await context.client();
    const hook = await client.hooks.get({ id: await hookCrud.id(client, args.hook) });
    if (hook.trigger !== 'webhook')
      throw failed(
        `The trigger of ${hook.name} is ${hook.trigger}. Only hooks with the trigger webhook receive payloads.`,
      );
    if (isSignedByAmazon(hook)) {
      throw failed(
        'Only Amazon can sign a message of SNS.',
        'Publish a message to the topic instead.',
      );
    }
    const { event = flags.sample?.event, sample, incoming } = flags;
    const read = file === undefined ? undefined : await readFileOrStdin(context, file);
    const secret = await readHookSecret(context, flags.secretFile);
    const as = await resolveSignature({
      hook,
      secret,
      named: flags.as,
      sample: sample?.sender,
      incoming,
    });
    const payload = read ?? freshPayload(sample?.payload, as.recipe);
    const { base, path } = await resolveDeliveryAddress(context, hook, as);
    const { recipe } = as;
    const delivery = { path, base, secret, payload, id: randomUUID(), event, recipe };
    const began = performance.now();
    const { status, body: receipt = {} } = await deliver(client, delivery).catch((error) => {
      if (error instanceof InvalidSigningSecret) throw failed(`${error.message}.`);
      throw error instanceof ApiError ? refusal(error, hook, as) : error;
    });
    const ms = Math.round(performance.now() - began);
    const how = isToken(recipe) ? 'with its secret' : 'signed';
    context.out.note(`POST ${client.url}${path}   ${Buffer.byteLength(payload)} bytes, ${how}`);
    if (context.out.format !== 'table') return context.out.item(receipt, columns);
    context.out.line(`${status} in ${ms} ms   ${outcomeText(receipt)}`);
    const [execution] = receipt.executions ?? [];
    if (execution) context.out.note(next(hook, execution));
  },
});

/** The address that the sender signs, and the path below it. */
const resolveDeliveryAddress = async (
  context: Context,
  hook: Hook,
  { recipe, isIncoming }: ResolvedSignature,
) => {
  const isUrlSigned = recipe.signed?.includes('{url}') === true;
  const base = isUrlSigned ? (await publicAddress(context)).url : context.url;
  const path = buildReceiverAddresses('', hook)[isIncoming ? 'incoming' : 'signed'];
  return { base, path };
};

const refusal = (
  { statusCode, message }: ApiError,
  hook: Hook,
  { name, isOther }: ResolvedSignature,
): CliFault => {
  const remedies: Record<number, string | string[]> = {
    401: isOther
      ? `The hook expects another sender. Change it: adjutant hooks update ${hook.name} --verify ${name}`
      : secretRemedy(hook),
    404: `No hook matches this path. Check it: adjutant hooks get ${hook.name}`,
    415: 'The sender does not send this type of body: adjutant help signatures',
  };
  const remedy = remedies[statusCode];
  return failed(`Refused with ${statusCode}: ${message}.`, ...[remedy ?? []].flat());
};

/** The outcome of a delivery. The reply to a handshake names none. */
const getDeliveryOutcome = ({ received, duplicate, accepted }: DeliveryReceipt) => {
  if (duplicate) return 'duplicate';
  if (accepted) return 'accepted';
  return received ? 'disabled' : 'handshake';
};

const NOT_RUN_REASONS: Record<string, string> = {
  duplicate: 'duplicate: nothing ran again',
  disabled: 'received, but every matching hook is disabled',
  handshake: 'handshake: answered, nothing runs',
};

const outcomeText = (receipt: DeliveryReceipt): string => {
  const { hooks, deliveryId, executions = [] } = receipt;
  const notRun = NOT_RUN_REASONS[getDeliveryOutcome(receipt)];
  if (notRun) return notRun;
  const count = formatCount(hooks ?? 0, 'hook');
  return `delivery ${tail(plainText(deliveryId))}   ${count}   execution ${executions.map(tail).join(', ')}`;
};

const next = ({ action, name }: Hook, execution: string): string =>
  action === 'spawn_agent'
    ? `Follow it: adjutant agents tail --execution ${tail(execution)}`
    : `Check the outcome: adjutant hooks execution ${name} ${tail(execution)}`;

const tail = (id: string): string => id.slice(-6);
