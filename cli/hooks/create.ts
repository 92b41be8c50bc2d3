import { contracts, type Hook, type SenderVerification } from '../../src/client/index.js';
import { type Context, command, textFlag } from '../command.js';
import { requestFields, requestFrom } from '../fields.js';
import { safe } from '../text.js';
import { publicAddress } from '../tunnel/address.js';
import { hookTableColumns, type NewSecret, newHookSecret } from './hook.js';
import { sampleFrom } from './sample.js';
import { askSender } from './senders/ask.js';
import {
  type HookSender,
  hookSenderOf,
  senderFormOf,
  settingsOf,
  triggerLines,
  wordOf,
} from './senders/form.js';

const { create } = await contracts.hooks();

export const SECRET = 'triggerConfig.webhookSecret';
/** Fields that are secrets, which no flag takes. */
export const secretFields = [SECRET, 'triggerConfig.webhookCredentialId'];

export const hookCreate = command({
  name: 'create',
  calls: [create],
  summary: `${create.summary}; on a terminal it asks for all it needs`,
  examples: [
    '',
    '--name github-issues --trigger webhook --webhook-path github-issues' +
      " --action spawn_agent --agent-prompt 'Triage this issue.' > secret.txt",
    '--data @hook.json --secret-file secret.txt',
  ],
  fields: () => requestFields(create.body, secretFields),
  takesData: true,
  flags: {
    secretFile: textFlag('<file|->', 'A secret of your own; else one is made and shown once'),
  },
  notes: [
    'A secret that was made goes to stdout alone, so that > file keeps it; --json adds it to ' +
      'the reply as "secret".',
  ],
  seeAlso: 'adjutant hooks settings, adjutant help webhooks',
  run: async (context, { flags, fields, data }) => {
    const isBare = Object.keys(fields).length === 0 && data === undefined;
    const guided = isBare && context.ask.isPossible ? await guideHook(context) : undefined;
    const meant = guided?.fields ?? fields;
    const draft = await requestFrom(create.body, { fields: meant, data }, context.at);
    const isWebhook = draft.trigger === 'webhook';
    const isSecretGiven = draft.triggerConfig?.webhookSecret !== undefined;
    const secret =
      isWebhook && !isSecretGiven
        ? await secretOf(context, draft.triggerConfig?.verify, flags.secretFile)
        : undefined;
    const triggerConfig = {
      ...draft.triggerConfig,
      ...(secret && { webhookSecret: secret.value }),
    };
    const client = await context.client();
    const hook = await client.hooks.create({ body: { ...draft, triggerConfig } });
    await present(context, hook, { secret, guided });
  },
});

/** A new secret; one that the sender makes is asked for, and may be given later. */
const secretOf = async (
  context: Context,
  verify: SenderVerification | undefined,
  file: string | undefined,
): Promise<NewSecret | undefined> => {
  const preset = typeof verify === 'string' ? verify : verify?.preset;
  const theirs = preset && settingsOf(preset).theirs;
  if (theirs === undefined || file !== undefined) return newHookSecret(context, file);
  if (!context.ask.isPossible) return undefined;
  const ask = `Its secret: ${theirs} (empty: later)`;
  const value = await context.ask.hidden({ ask, instead: '--secret-file' });
  return value === '' ? undefined : { value, isMade: false };
};

interface CreatedHookParts {
  secret?: NewSecret;
  guided?: GuideResult;
}

const present = async (
  context: Context,
  hook: Hook,
  { secret, guided }: CreatedHookParts,
): Promise<void> => {
  const { out, url } = context;
  const shown = secret?.isMade ? secret.value : undefined;
  if (out.format === 'json') {
    out.json({ ...hook, ...(shown && { secret: shown }) });
    return;
  }
  out.note(`Created ${safe(hook.name)}, ${hook.enabled ? 'enabled' : 'disabled'}.`);
  if (hook.trigger === 'webhook') await paste(context, hook, { secret, guided });
  if (shown) {
    out.note('');
    out.note('The secret, shown this once. Keep it in a file that only you can read:');
    out.line(shown);
  } else if (out.format !== 'table') {
    out.item(hook, hookTableColumns);
  }
  out.note('');
  out.note(`Watch: adjutant hooks listen ${wordOf(hook)}`);
  if (hook.trigger !== 'webhook') return;
  const sample = sampleFrom(guided?.sender ?? hookSenderOf(hook));
  const sampled = `adjutant hooks send ${wordOf(hook)} --sample ${sample}`;
  for (const line of sample ? [sampled] : triggerLines(url, hook)) out.note(`Try:   ${line}`);
};

const paste = async (
  context: Context,
  hook: Hook,
  { secret, guided }: CreatedHookParts,
): Promise<void> => {
  const { out } = context;
  const sender = guided?.sender ?? hookSenderOf(hook);
  const place = secret?.isMade ? 'below, shown this once' : 'the one that you gave';
  const address = await publicAddress(context);
  const { where, facts, notes } = senderFormOf(sender, address, hook, place);
  out.note('');
  out.note(`Paste into ${where}`);
  const width = Math.max(...facts.map(([name]) => name.length));
  for (const [name, value] of facts) out.note(`  ${name.padEnd(width)}  ${value}`);
  for (const note of notes) out.note(note);
};

/** The input as fields of a new hook. */
export interface GuideResult {
  fields: Record<string, unknown>;
  sender?: HookSender;
}

const NAME = /^[\w.-]+$/;

/** Asks for a whole hook, one thing after the other. */
const guideHook = async (context: Context): Promise<GuideResult> => {
  const { ask } = context;
  const instead = 'the flags of adjutant hooks create --help';
  const sender = await askSender(context, instead);
  const name = await ask.text({
    ask: 'Name',
    initial: sender === null ? 'daily' : sender === 'other' ? 'webhook' : sender,
    instead: '--name',
    refuse: (given) => (NAME.test(given) ? undefined : 'Letters, digits, dots and dashes.'),
  });
  const trigger = sender === null ? await schedule(context) : received(sender, name);
  const labels = actions.map(({ label }) => label);
  const action = actions[await ask.choose({ ask: 'What then?', choices: labels, instead })];
  const does = await action?.ask(context);
  const conditions = sender === null ? undefined : await onlySome(context);
  const more = await action?.after?.(context);
  const fields = { name, ...trigger, ...does, conditions, ...more };
  return { fields, ...(sender && { sender }) };
};

const received = (sender: HookSender, name: string): Record<string, unknown> => ({
  trigger: 'webhook',
  'triggerConfig.webhookPath': name,
  ...(sender !== 'other' && { 'triggerConfig.verify': sender }),
});

const schedule = async ({ ask }: Context): Promise<Record<string, unknown>> => {
  const cron = await ask.text({
    ask: 'When? (cron: minute hour day month weekday)',
    initial: '0 9 * * 1-5',
    instead: '--cron',
  });
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const timezone = await ask.text({ ask: 'Time zone', initial: here, instead: '--timezone' });
  return { trigger: 'schedule', 'triggerConfig.cron': cron, 'triggerConfig.timezone': timezone };
};

type FieldInputs = Promise<Record<string, unknown>>;
interface HookActionChoice {
  label: string;
  ask(context: Context): FieldInputs;
  /** Questions asked once it is known when the hook fires. */
  after?(context: Context): FieldInputs;
}

const actions: HookActionChoice[] = [
  {
    label: 'run an agent',
    ask: async ({ ask }) => {
      const prompt = { ask: 'Prompt', instead: '--agent-prompt', refuse: needed };
      return { action: 'spawn_agent', 'actionConfig.agentPrompt': await ask.lines(prompt) };
    },
    after: async (context) => ({
      'actionConfig.notifyOwner': await context.ask.agree(
        { ask: 'Tell you when it is done?', instead: '--notify-owner' },
        true,
      ),
      'actionConfig.agentTools': await grants(context),
    }),
  },
  {
    label: 'notify me',
    ask: async ({ ask }) => ({
      action: 'notify',
      'actionConfig.notifyMessage': await ask.text({
        ask: 'Message ({{event}} and {{webhook.body.…}} are filled in)',
        initial: '{{hook.name}}: {{event}}',
        instead: '--notify-message',
      }),
    }),
  },
  {
    label: 'forward',
    ask: async ({ ask }) => ({
      action: 'webhook',
      'actionConfig.webhookUrl': await ask.text({
        ask: 'To which address?',
        instead: '--webhook-url',
        refuse: (given) => (URL.canParse(given) ? undefined : 'An address like https://…'),
      }),
    }),
  },
  {
    label: 'run a tool',
    ask: async ({ ask }) => ({
      action: 'execute_tool',
      'actionConfig.toolId': await ask.text({ ask: 'Tool', initial: 'http', instead: '--tool-id' }),
      'actionConfig.toolAction': await ask.text({
        ask: 'Action',
        initial: 'request',
        instead: '--tool-action',
      }),
      'actionConfig.toolParams': JSON.parse(
        await ask.text({
          ask: 'Its parameters, as JSON',
          initial: '{}',
          instead: '--tool-params',
          refuse: (given) => (isJson(given) ? undefined : 'JSON, for example {"url":"https://…"}'),
        }),
      ),
    }),
  },
];

/** Tools by their names, as `adjutant skills tools` lists them; the daemon says which it knows. */
const grants = async ({ ask }: Context): Promise<string[] | undefined> => {
  ask.say('  Its input comes from outside: every call with side effects will ask you.');
  const given = await ask.text({
    ask: 'Tools it may use without asking, e.g. web.read (empty: none)',
    instead: '--agent-tools',
  });
  const tools = given.split(/[\s,]+/).filter(Boolean);
  return tools.length > 0 ? tools : undefined;
};

const CONDITION = /^(\S+)\s*=\s*(.+)$/;

/** `action = opened` is a condition on the payload's field. */
const onlySome = async ({ ask }: Context): Promise<object[] | undefined> => {
  const given = await ask.text({
    ask: 'Only some events? e.g. action = opened (empty: all)',
    instead: '--conditions',
    refuse: (input) => (input === '' || CONDITION.test(input) ? undefined : 'field = value'),
  });
  const [, field, value] = CONDITION.exec(given) ?? [];
  if (field === undefined) return undefined;
  return [{ field: `webhook.body.${field}`, operator: 'equals', value }];
};

const needed = (given: string): string | undefined =>
  given.trim() === '' ? 'It needs something to do.' : undefined;

const isJson = (given: string): boolean => {
  try {
    JSON.parse(given);
    return true;
  } catch {
    return false;
  }
};
