import { loadSenders } from '../../src/client/index.js';
import type { Context } from '../command.js';
import { oneLine } from '../text.js';
import { askSender, type HookSource } from './senders/ask.js';
import type { HookSender } from './senders/form.js';

const { TOPIC_ARN } = await loadSenders();

export interface GuideResult {
  fields: Record<string, unknown>;
  sender?: HookSender;
}

const NAME = /^[\w.-]+$/;

export const guideHook = async (context: Context): Promise<GuideResult> => {
  const { ask } = context;
  const instead = 'the flags of adjutant hooks create --help';
  const by = await askSender(context, instead);
  const sender = by === 'schedule' || by === 'email' ? undefined : by;
  const name = await ask.text({
    ask: 'Name',
    initial: NAMES[by] ?? by,
    instead: '--name',
    refuse: (typed) =>
      NAME.test(typed) ? undefined : 'Use letters, digits, underscores, dots and dashes.',
  });
  const trigger = await askTrigger(context, by, name);
  const labels = actions.map(({ label }) => label);
  const action = actions[await ask.choose({ ask: 'Action', choices: labels, instead })];
  const does = await action?.ask(context, by);
  const conditions = by === 'schedule' ? undefined : await onlySome(context, by);
  const more = await action?.after?.(context, by, name);
  const fields = { name, ...trigger, ...does, conditions, ...more };
  return { fields, ...(sender && { sender }) };
};

/** Suggested names for hooks that are not named after their sender. */
const NAMES: Partial<Record<HookSource, string>> = {
  schedule: 'daily',
  email: 'mail',
  other: 'webhook',
};

const askTrigger = async (
  context: Context,
  by: HookSource,
  name: string,
): Promise<Record<string, unknown>> => {
  if (by === 'schedule') return schedule(context);
  if (by === 'email') return askMailTrigger(context);
  return received(by, name, by === 'sns' ? await topic(context) : undefined);
};

const received = (
  sender: HookSender,
  name: string,
  topicArn: string | undefined,
): Record<string, unknown> => ({
  trigger: 'webhook',
  'triggerConfig.webhookPath': name,
  ...(sender !== 'other' && {
    'triggerConfig.verify': topicArn === undefined ? sender : { preset: sender, topicArn },
  }),
});

const topic = ({ ask }: Context): Promise<string> =>
  ask.text({
    ask: 'ARN of the topic',
    instead: '--verify',
    refuse: (typed) =>
      TOPIC_ARN.test(typed)
        ? undefined
        : 'Enter an ARN like arn:aws:sns:eu-west-1:123456789012:orders.',
  });

const schedule = async ({ ask }: Context): Promise<Record<string, unknown>> => {
  const cron = await ask.text({
    ask: 'Schedule (cron: minute hour day month weekday)',
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
  ask(context: Context, by: HookSource): FieldInputs;
  /** Questions that come after the other questions of the hook. */
  after?(context: Context, by: HookSource, name: string): FieldInputs;
}

const actions: HookActionChoice[] = [
  {
    label: 'run an agent',
    ask: async ({ ask }) => {
      const prompt = { ask: 'Prompt', instead: '--agent-prompt', refuse: needed };
      return { action: 'spawn_agent', 'actionConfig.agentPrompt': await ask.lines(prompt) };
    },
    after: async (context, by, name) => ({
      'actionConfig.notifyOwner': await context.ask.agree(
        { ask: 'Notify you when it is done?', instead: '--notify-owner' },
        true,
      ),
      'actionConfig.agentTools': await grants(context),
      ...(await askReply(context, by, name)),
    }),
  },
  {
    label: 'notify me',
    ask: async ({ ask }, by) => ({
      action: 'notify',
      'actionConfig.notifyMessage': await ask.text({
        ask: `Message ({{event}} and {{${getContentPath(by)}.…}} are filled in)`,
        initial: by === 'email' ? '{{email.from}}: {{email.subject}}' : '{{hook.name}}: {{event}}',
        instead: '--notify-message',
      }),
    }),
  },
  {
    label: 'forward',
    ask: async ({ ask }) => ({
      action: 'webhook',
      'actionConfig.webhookUrl': await ask.text({
        ask: 'Target address',
        instead: '--webhook-url',
        refuse: (typed) => (URL.canParse(typed) ? undefined : 'Enter an address like https://…'),
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
          ask: 'Parameters, as JSON',
          initial: '{}',
          instead: '--tool-params',
          refuse: (typed) =>
            isJson(typed) ? undefined : 'Enter JSON, for example {"url":"https://…"}',
        }),
      ),
    }),
  },
  {
    label: 'start a pipeline',
    ask: async ({ ask }, by) => ({
      action: 'start_pipeline',
      'actionConfig.templateId': await ask.text({
        ask: 'Template id (adjutant pipelines templates list)',
        instead: '--template-id',
        refuse: needed,
      }),
      'actionConfig.params': JSON.parse(
        await ask.text({
          ask: `Parameters, as JSON ({{${getContentPath(by)}.…}} is filled in)`,
          initial: '{}',
          instead: '--params',
          refuse: (typed) =>
            isJson(typed) ? undefined : 'Enter JSON, for example {"version":"2.1"}',
        }),
      ),
    }),
  },
];

/** Senders whose platform also accepts replies. */
const REPLIED: Partial<Record<HookSource, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea',
  jira: 'Jira',
  linear: 'Linear',
  slack: 'Slack',
};
const OWN_SERVER: HookSource[] = ['gitea', 'jira'];

/** Whether the result goes to the issue, ticket or thread of the delivery, too. */
const askReply = async (
  context: Context,
  by: HookSource,
  name: string,
): Promise<Record<string, unknown>> => {
  const { ask } = context;
  const platform = REPLIED[by];
  if (!platform) return {};
  const question = `Post the result to ${platform}, where the delivery came from?`;
  if (!(await ask.agree({ ask: question, instead: '--reply' }, false))) return {};
  ask.say('  The reply needs no approval. It goes only to the source of the verified delivery.');
  const client = await context.client();
  const { credentials } = await client.vault.list({ query: { limit: 200 } });
  if (credentials.length === 0) {
    ask.say(`  No credential yet. Store a token of ${platform}: adjutant vault add ${by}-bot`);
    ask.say(`  Then: adjutant hooks update ${name} --reply ${by} --reply-credential-id ${by}-bot`);
    return {};
  }
  const chosen = await ask.choose({
    ask: `Credential with a token of ${platform}`,
    choices: credentials.map(({ name }) => oneLine(name)),
    instead: '--reply-credential-id',
  });
  const isRequired = OWN_SERVER.includes(by);
  const url = await ask.text({
    ask: isRequired
      ? 'Address of your server, e.g. https://git.example.org'
      : 'Address of your own server (empty: the public service)',
    instead: '--reply-url',
    refuse: (typed) =>
      (typed === '' && !isRequired) || /^https?:\/\/[^\s/]/.test(typed)
        ? undefined
        : 'Enter an address like https://git.example.org.',
  });
  return {
    'actionConfig.reply.preset': by,
    'actionConfig.reply.credentialId': credentials[chosen]?.id,
    ...(url !== '' && { 'actionConfig.reply.url': url }),
  };
};

/** Tools as `adjutant skills tools` lists them. The daemon validates the names. */
const grants = async ({ ask }: Context): Promise<string[] | undefined> => {
  ask.say('  Its input is untrusted: every call with side effects needs your approval.');
  const typed = await ask.text({
    ask: 'Tools that need no approval, e.g. web.read (empty: none)',
    instead: '--agent-tools',
  });
  const tools = typed.split(/[\s,]+/).filter(Boolean);
  return tools.length > 0 ? tools : undefined;
};

const CONDITION = /^(\S+)\s*=\s*(.+)$/;

/** Path of the received content in templates and conditions. */
const getContentPath = (by: HookSource): string => (by === 'email' ? 'email' : 'webhook.body');

/** `action = opened` is a condition on a field of the payload or of the e-mail. */
const onlySome = async ({ ask }: Context, by: HookSource): Promise<object[] | undefined> => {
  const example = by === 'email' ? 'category = invoice' : 'action = opened';
  const typed = await ask.text({
    ask: `Only some ${by === 'email' ? 'e-mails' : 'events'}? e.g. ${example} (empty: all)`,
    instead: '--conditions',
    refuse: (input) =>
      input === '' || CONDITION.test(input)
        ? undefined
        : `Enter a field, = and its value, like ${example}.`,
  });
  const [, field, value] = CONDITION.exec(typed) ?? [];
  if (field === undefined) return undefined;
  return [{ field: `${getContentPath(by)}.${field}`, operator: 'equals', value }];
};

const needed = (typed: string): string | undefined =>
  typed.trim() === '' ? 'A value is required.' : undefined;

const isJson = (typed: string): boolean => {
  try {
    JSON.parse(typed);
    return true;
  } catch {
    return false;
  }
};

/** Asks for the mail account and the folder whose new e-mails fire a hook. The default is all. */
const askMailTrigger = async (context: Context): Promise<Record<string, unknown>> => {
  const { ask } = context;
  const client = await context.client();
  const { accounts } = await client.mailaccounts.list({ query: { limit: 200 } });
  if (accounts.length === 0) ask.say('  No mail account yet. Add one: adjutant email setup');
  const choices = ['all accounts', ...accounts.map(({ address }) => oneLine(address))];
  const question = { ask: 'Mail account', choices, instead: '--account-id' };
  const account = accounts.length === 0 ? undefined : accounts[(await ask.choose(question)) - 1];
  const folder = await ask.text({ ask: 'Folder (empty: all)', instead: '--folder' });
  return {
    trigger: 'email',
    ...(account && { 'triggerConfig.accountId': account.id }),
    ...(folder !== '' && { 'triggerConfig.folder': folder }),
  };
};
