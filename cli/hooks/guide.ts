import type { Context } from '../context.js';
import type { Sender } from './settings.js';

/** What the answers amount to, as the fields of a new hook. */
export interface Guided {
  fields: Record<string, unknown>;
  sender?: Sender;
}

interface Origin {
  label: string;
  name: string;
  sender?: Sender;
}

const origins: Origin[] = [
  { label: 'GitHub', name: 'github', sender: 'github' },
  { label: 'GitLab', name: 'gitlab', sender: 'gitlab' },
  { label: 'Gitea', name: 'gitea', sender: 'gitea' },
  { label: 'Stripe', name: 'stripe', sender: 'stripe' },
  { label: 'other (HMAC)', name: 'webhook', sender: 'other' },
  { label: 'a schedule', name: 'daily' },
];

const NAME = /^[\w.-]+$/;

/** Asks for a whole hook, one thing after the other. */
export const guide = async (context: Context): Promise<Guided> => {
  const { ask } = context;
  const choices = origins.map(({ label }) => label);
  const instead = 'the flags of adjutant hooks create --help';
  const origin = origins[await ask.choose({ ask: 'Who sends?', choices, instead })];
  const name = await ask.text({
    ask: 'Name',
    initial: origin?.name,
    instead: '--name',
    refuse: (given) => (NAME.test(given) ? undefined : 'Letters, digits, dots and dashes.'),
  });
  const trigger = origin?.sender
    ? { trigger: 'webhook', 'triggerConfig.webhookPath': name }
    : await schedule(context);
  const action = await whatThen(context, instead);
  const conditions = origin?.sender ? await onlySome(context) : undefined;
  return { fields: { name, ...trigger, ...action, conditions }, sender: origin?.sender };
};

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

const actions: { label: string; ask(context: Context): Promise<Record<string, unknown>> }[] = [
  {
    label: 'run an agent',
    ask: async ({ ask }) => {
      const prompt = { ask: 'Prompt', instead: '--agent-prompt', refuse: needed };
      const agentPrompt = await ask.lines(prompt);
      const tell = { ask: 'Tell you when it is done?', instead: '--notify-owner' };
      return {
        action: 'spawn_agent',
        'actionConfig.agentPrompt': agentPrompt,
        'actionConfig.notifyOwner': await ask.agree(tell, true),
      };
    },
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

const whatThen = async (context: Context, instead: string): Promise<Record<string, unknown>> => {
  const choices = actions.map(({ label }) => label);
  const at = await context.ask.choose({ ask: 'What then?', choices, instead });
  return (await actions[at]?.ask(context)) ?? {};
};

const CONDITION = /^(\S+)\s*=\s*(.+)$/;

/** `action = opened` is a condition on the payload's field. */
const onlySome = async ({ ask }: Context): Promise<object[] | undefined> => {
  const given = await ask.text({
    ask: 'Only some events? e.g. action = opened (empty: all)',
    instead: '--conditions',
    refuse: (answer) => (answer === '' || CONDITION.test(answer) ? undefined : 'field = value'),
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
