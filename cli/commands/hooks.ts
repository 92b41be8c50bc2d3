import { type Client, contracts, type Hook } from '../../src/client/index.js';
import { type CommandGroup, command, textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom } from '../fields.js';
import { publicAddress } from '../hooks/address.js';
import { hookCrud } from '../hooks/columns.js';
import { hookCreate, SECRET, secretFields } from '../hooks/create.js';
import { getExecution, hookTest, listExecutions, replayExecution } from '../hooks/executions.js';
import { listenHooks } from '../hooks/listen.js';
import { givenSecret } from '../hooks/secret.js';
import { sendHook } from '../hooks/send.js';
import {
  type HookSender,
  senderFormOf,
  senderOf,
  senders,
  trials,
  wordOf,
} from '../hooks/settings.js';
import { safe } from '../text.js';

const endpoints = await contracts.hooks();

type HookUpdateInput = Pick<Parameters<typeof rotateSecret.run>[1], 'fields' | 'data'> & {
  flags: { secretFile?: string };
};

/** The changes of a hook, as its flags and `--data` say them. */
const changesOf = async (
  context: Context,
  { flags, fields, data }: HookUpdateInput,
  { client, id }: { client: Client; id: string },
) => {
  const secret = flags.secretFile && (await givenSecret(context, flags.secretFile));
  const more = { ...fields, ...(secret && { [SECRET]: secret }) };
  const whole = await wholeParts(client, id, more);
  const filled = { fields: { ...whole, ...more }, data };
  return requestFrom(endpoints.update.body, filled, context.at);
};

/** The API takes these two whole: a flag of theirs goes over what there is. */
const wholeParts = async (client: Client, id: string, fields: Record<string, unknown>) => {
  const isInside = (part: string) =>
    Object.keys(fields).some((path) => path.startsWith(`${part}.`));
  if (!isInside('triggerConfig') && !isInside('actionConfig')) return {};
  const { triggerConfig, actionConfig } = await client.hooks.get({ id });
  return {
    ...(isInside('triggerConfig') && { triggerConfig }),
    ...(isInside('actionConfig') && { actionConfig }),
  };
};

/** A note on what is deleted with a hook, and what stays. */
const lossOf = async (client: Client, { id, stats, trigger }: Hook): Promise<string> => {
  const query = { status: 'queued' as const, limit: MOST_COUNTED };
  const { executions, nextCursor } = await client.hooks.executions({ id, query });
  const waiting = nextCursor === null ? `${executions.length}` : `over ${executions.length}`;
  const runs = counted(stats.executions, 'execution');
  const unrun = executions.length === 0 ? '' : `, ${waiting} of which wait and never run then`;
  const senders = trigger === 'webhook' ? ' Its senders are refused.' : '';
  return (
    `With it go its ${runs}${unrun}.${senders} ` +
    'Deliveries and the agents that it spawned stay until their retention ends.'
  );
};

const MOST_COUNTED = 50;

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

const toggle = (name: 'enable' | 'disable') =>
  hookCrud.act(name, endpoints[name], {
    examples: [
      'github-issues',
      '4ew6rt --json',
      `hooks list --output id | xargs -n1 adjutant hooks ${name}`,
    ],
    said: (hook) => `${safe(hook.name)} is ${name}d.`,
  });

const settings = command({
  name: 'settings',
  args: '<hook>',
  summary: 'What to enter at the sender',
  examples: ['github-issues', 'builds --sender gitlab', 'github-issues --json'],
  flags: {
    sender: {
      value: `<${senders.join('|')}>`,
      about: 'Whose form it is',
      read: (given): HookSender => {
        const sender = senders.find((each) => each === given);
        if (!sender) throw usageFault(`--sender is one of ${senders.join(', ')} (got "${given}")`);
        return sender;
      },
    },
  },
  notes: ['The secret is not among it: it was shown when the hook was made.'],
  seeAlso: 'adjutant hooks rotate-secret, adjutant help signatures',
  run: async (context, { args, flags }) => {
    const client = await context.client();
    const hook = await client.hooks.get({ id: await hookCrud.id(client, args.hook) });
    const form = senderFormOf(flags.sender ?? senderOf(hook), await publicAddress(context), hook);
    if (context.out.format === 'json') return context.out.json(form);
    context.out.note(form.where);
    context.out.facts(form.facts);
    for (const note of form.notes) context.out.note(note);
    for (const line of trials(context.url, hook)) context.out.note(`Try:  ${line}`);
  },
});

const rotateSecret = command({
  name: 'rotate-secret',
  args: '<hook>',
  calls: [endpoints['rotate-secret']],
  examples: [
    'github-issues --overlap-minutes 30',
    'github-issues > secret.txt',
    'github-issues --json',
  ],
  fields: () => requestFields(endpoints['rotate-secret'].body),
  notes: ['The new secret goes to stdout alone, this once.'],
  run: async (context, { args, fields }) => {
    const { client, id } = await hookCrud.find(context, args.hook);
    const body = await requestFrom(endpoints['rotate-secret'].body, { fields }, context.at);
    const reply = await client.hooks['rotate-secret']({ id, body });
    if (context.out.format === 'json') return context.out.json(reply);
    context.out.note('The new secret, shown this once:');
    context.out.line(reply.secret);
    const until = reply.oldSecretUntil ? `until ${reply.oldSecretUntil}` : 'no more';
    context.out.note(`The old one verifies ${until}. Change it at the sender.`);
    context.out.note(`Who still uses the old one: adjutant hooks get ${args.hook}`);
  },
});

export const hooksGroup: CommandGroup = {
  commands: [
    hookCrud.list({
      examples: ['', '--trigger schedule', '--fields name,path'],
      next: (rows) => {
        if (rows.length === 0) return 'No hooks. Make one: adjutant hooks create';
        const failing = rows.find(({ stats }) => stats.lastStatus === 'error');
        if (!failing) return undefined;
        return `Look at the error: adjutant hooks executions ${wordOf(failing)} --status error`;
      },
      seeAlso: 'adjutant help webhooks',
    }),
    hookCrud.get({
      examples: ['github-issues', 'github-issues --json', '4ew6rt --fields name,stats.executions'],
    }),
    hookCreate,
    hookCrud.update({
      examples: [
        'github-issues --cooldown-ms 60000',
        "github-issues --agent-prompt 'Label this issue.'",
        'stripe-refunds --secret-file -',
        'github-issues --edit',
      ],
      notes: [
        'A flag changes its one field; in --data, triggerConfig and actionConfig replace whole.',
      ],
      seeAlso: 'adjutant hooks rotate-secret',
      flags: { secretFile: textFlag('<file|->', 'Another secret, the one that the sender has') },
      except: secretFields,
      secrets: [SECRET],
      said: 'Updated',
      body: changesOf,
    }),
    hookCrud.delete({
      examples: ['old-hook', 'old-hook --yes', '4ew6rt --yes'],
      notes: ['Senders are refused at once. There is no undo.'],
      ask: ({ name }) => `Delete hook ${safe(name)}? There is no undo.`,
      loss: lossOf,
    }),
    toggle('enable'),
    toggle('disable'),
    listExecutions,
    getExecution,
    settings,
    sendHook,
    listenHooks,
    hookTest,
    replayExecution,
    rotateSecret,
  ],
  notes: ['A hook is named by its name, its id, or the last six characters of that.'],
};
