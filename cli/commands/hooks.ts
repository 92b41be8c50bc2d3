import { type Client, contracts, type Hook, parseExact } from '../../src/client/index.js';
import { type CommandGroup, type Context, command, switchFlag, textFlag } from '../command.js';
import { failed, usageFault } from '../exit.js';
import { requestFrom } from '../fields.js';
import { hookCreate, SECRET, secretFields } from '../hooks/create.js';
import { executionId, executionTableColumns, hookCrud, readHookSecret } from '../hooks/hook.js';
import { listenHooks } from '../hooks/listen.js';
import { findExecutionCommand, recentExecutionsList } from '../hooks/recent.js';
import { refusedDeliveries } from '../hooks/rejections.js';
import { outcomeNote, replay } from '../hooks/replay.js';
import { listReplies, resendReply } from '../hooks/replies.js';
import { sendHook } from '../hooks/send.js';
import {
  buildSenderForm,
  findHookSender,
  getSenderSettings,
  type HookSender,
  hookArgument,
  isSignedByAmazon,
  senders,
  triggerLines,
} from '../hooks/senders/form.js';
import { awaitToken, receiveToken } from '../hooks/token.js';
import { readFileOrStdin } from '../input.js';
import { listCommand } from '../request.js';
import { formatCount, safe } from '../text.js';
import { publicAddress } from '../tunnel/address.js';

const endpoints = await contracts.hooks();

const listExecutions = listCommand({
  endpoint: endpoints.executions,
  name: 'executions',
  args: '<hook>',
  examples: ['github-issues', 'github-issues --status error', 'github-issues --output id --all'],
  rows: 'executions',
  columns: executionTableColumns,
  within: async (client, { hook }) => ({ id: await hookCrud.id(client, hook) }),
  next: ([first], { hook }) =>
    first
      ? `Show one in full: adjutant hooks execution ${hook} ${first.id.slice(-6)}`
      : `No executions. Start one: adjutant hooks test ${hook}`,
  seeAlso: 'adjutant hooks execution, adjutant hooks replay',
});

const within = async (client: Client, id: string, { execution }: { execution: string }) => ({
  executionId: await executionId(client, id, execution),
});

const getExecution = hookCrud.request({
  name: 'execution',
  summary: 'Get an execution of the hook that you name',
  args: '<hook> <execution>',
  endpoint: endpoints.execution,
  examples: [
    'github-issues 4ew6rt',
    'github-issues 4ew6rt --json',
    'github-issues 4ew6rt --fields status,error',
  ],
  within,
  show: ({ out }, run) => out.item(run, executionTableColumns),
});

const hookTest = hookCrud.request({
  name: 'test',
  args: '<hook> [payload]',
  endpoint: endpoints.test,
  examples: [
    'github-issues',
    'github-issues issue.json --event issues',
    'github-issues issue.json --dry-run',
  ],
  except: ['payload'],
  notes: ['The payload is a file, or - for stdin. Defaults to {}. --dry-run opens no connection.'],
  seeAlso: 'adjutant hooks send, which goes through the receiver and its signature',
  more: async (context, { args: { payload } }) => ({
    payload: payload === undefined ? {} : await payloadFrom(context, payload),
  }),
  show: ({ out }, reply, { args: { hook } }) => {
    // A dry run returns a preview, which has no id and is in no list.
    if (!('id' in reply)) return out.item<object>(reply, []);
    out.item(reply, executionTableColumns);
    out.note(outcomeNote(hook, reply));
  },
});

const payloadFrom = async (context: Context, file: string): Promise<unknown> => {
  try {
    return parseExact(await readFileOrStdin(context, file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usageFault(`${file} is not JSON: ${error.message}`);
  }
};

interface HookUpdateInput {
  flags: { secretFile?: string };
  fields: Record<string, unknown>;
  data?: string;
}

const buildHookChanges = async (
  context: Context,
  { flags, fields, data }: HookUpdateInput,
  { client, id }: { client: Client; id: string },
) => {
  const secret = flags.secretFile && (await readHookSecret(context, flags.secretFile));
  const more = { ...fields, ...(secret && { [SECRET]: secret }) };
  const whole = await wholeParts(client, id, more);
  const filled = { fields: { ...whole, ...more }, data };
  return requestFrom(endpoints.update.body, filled, context.at);
};

/** Merges the flags into the two objects that the API replaces only as a whole. */
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

const describeHookLoss = async (client: Client, { id, stats, trigger }: Hook): Promise<string> => {
  const query = { status: 'queued' as const, limit: MAX_COUNTED };
  const { executions, nextCursor } = await client.hooks.executions({ id, query });
  const waiting = nextCursor === null ? `${executions.length}` : `more than ${executions.length}`;
  const runs = formatCount(stats.executions, 'execution');
  const unrun = executions.length === 0 ? '' : `, ${waiting} of which are queued and will not run`;
  const senders = trigger === 'webhook' ? ' Its senders are refused.' : '';
  return (
    `This also deletes its ${runs}${unrun}.${senders} Deliveries and spawned agents ` +
    'are kept until their retention ends.'
  );
};

const MAX_COUNTED = 50;

const toggle = (name: 'enable' | 'disable') =>
  hookCrud.act(name, endpoints[name], {
    examples: [
      'github-issues',
      '4ew6rt --json',
      `hooks list --output id | xargs -n1 adjutant hooks ${name}`,
    ],
    message: (hook) => `${safe(hook.name)} is ${name}d.`,
  });

const settings = command({
  name: 'settings',
  args: '<hook>',
  summary: 'Show the URL and settings to enter at the sender',
  examples: [
    'github-issues',
    'builds --sender gitlab',
    'pages --await-token',
    'github-issues --json',
  ],
  flags: {
    awaitToken: switchFlag(
      'Also receive the verification token of the sender, like hooks await-token',
    ),
    sender: {
      value: '<sender>',
      about: `Sender to show the settings for. One of ${senders.join(', ')}`,
      values: senders,
      read: (input): HookSender => {
        const sender = senders.find((each) => each === input);
        if (!sender)
          throw usageFault(`--sender must be one of ${senders.join(', ')} (got "${input}")`);
        return sender;
      },
    },
  },
  notes: ['The secret is not included. It was shown when the hook was created.'],
  seeAlso: 'adjutant hooks rotate-secret, adjutant help signatures',
  run: async (context, { args, flags }) => {
    const client = await context.client();
    const hook = await client.hooks.get({ id: await hookCrud.id(client, args.hook) });
    const form = buildSenderForm(
      flags.sender ?? findHookSender(hook),
      await publicAddress(context),
      hook,
    );
    if (context.out.format === 'json') return context.out.json(form);
    context.out.note(form.where);
    if (flags.awaitToken) {
      // Only the token goes to stdout.
      for (const [name, value] of form.facts) context.out.note(`  ${name}  ${value}`);
      return receiveToken(context, args.hook);
    }
    context.out.facts(form.facts);
    for (const note of form.notes) context.out.note(note);
    for (const line of triggerLines(context.url, hook)) context.out.note(`Try:  ${line}`);
  },
});

const rotateSecret = hookCrud.request({
  name: 'rotate-secret',
  args: '<hook>',
  endpoint: endpoints['rotate-secret'],
  examples: [
    'github-issues --overlap-minutes 30',
    'github-issues > secret.txt',
    'github-issues --json',
  ],
  except: [],
  notes: [
    'The new secret is printed to stdout, once.',
    'If the sender generates the secret, store it in the hook: hooks update <hook> ' +
      '--secret-file -',
  ],
  more: async (context, { args }) => {
    const client = await context.client();
    await refuseTheirs(await client.hooks.get({ id: await hookCrud.id(client, args.hook) }));
    return {};
  },
  say: ({ out }, { secret, oldSecretUntil }, { args: { hook } }) => {
    out.note('New secret, shown only once:');
    out.line(secret);
    const until = oldSecretUntil ? `stays valid until ${oldSecretUntil}` : 'is no longer valid';
    out.note(`The old secret ${until}. Change it at the sender.`);
    out.note(`See which secret the sender uses: adjutant hooks get ${hook}`);
  },
});

/** Throws if only the sender can generate the secret. */
const refuseTheirs = async (hook: Hook): Promise<void> => {
  const { label, theirs } = getSenderSettings(findHookSender(hook));
  if (isSignedByAmazon(hook))
    throw failed('Amazon signs with its own key, so this hook has no secret.');
  if (theirs === undefined) return;
  throw failed(
    `This secret cannot be rotated here, because ${label} generates it. Create a new one there: ${theirs}.`,
    `Store it in the hook: adjutant hooks update ${hookArgument(hook)} --secret-file -`,
  );
};

export const hooksGroup: CommandGroup = {
  commands: [
    hookCrud.list({
      examples: ['', '--trigger schedule', '--fields name,path'],
      next: (rows) => {
        if (rows.length === 0) return 'No hooks. Create one: adjutant hooks create';
        const failing = rows.find(({ stats }) => stats.lastStatus === 'error');
        if (!failing) return undefined;
        return `Check the error: adjutant hooks executions ${hookArgument(failing)} --status error`;
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
        'A flag changes one field. In --data, triggerConfig and actionConfig are ' +
          'replaced as a whole.',
      ],
      seeAlso: 'adjutant hooks rotate-secret',
      flags: {
        secretFile: textFlag('<file|->', 'File with the new secret that the sender uses'),
      },
      except: secretFields,
      secrets: [SECRET],
      message: ({ name }) => `Updated ${safe(name)}.`,
      body: buildHookChanges,
    }),
    hookCrud.delete({
      examples: ['old-hook', 'old-hook --yes', '4ew6rt --yes'],
      notes: ['Senders are refused at once. This cannot be undone.'],
      ask: ({ name }) => `Delete hook ${safe(name)}? This cannot be undone.`,
      loss: describeHookLoss,
    }),
    toggle('enable'),
    toggle('disable'),
    listExecutions,
    getExecution,
    recentExecutionsList,
    findExecutionCommand,
    refusedDeliveries,
    settings,
    sendHook,
    listenHooks,
    hookTest,
    replay,
    listReplies,
    resendReply,
    awaitToken,
    rotateSecret,
  ],
  notes: ['Identify a hook by its name, its id, or the last six characters of the id.'],
};
