import type { Client } from '../../src/client/index.js';
import type { Context } from '../command.js';
import type { RequestField } from '../fields.js';
import { hookCrud } from '../hooks/hook.js';
import { templateCrud } from '../pipelines/templates.js';
import { askValues } from '../pipelines/values.js';

type ConfigFields = Record<string, unknown>;

/**
 * Asks on a terminal for missing values of a recurring task: title, schedule, action and its
 * configuration.
 */
export const askRecurring = async (
  context: Context,
  fields: readonly RequestField[],
  input: ConfigFields,
): Promise<ConfigFields> => {
  if (!context.ask.isPossible) return {};
  const title = input.title === undefined && {
    title: await needed(context, { ask: 'Title', instead: 'a title' }),
  };
  const isTimed = [input['schedule.cron'], input['schedule.rrule']].some(Boolean);
  const times = isTimed ? {} : await askTimes(context, input);
  const choices = fields.find(({ path }) => path === 'action')?.values ?? [];
  const question = { ask: 'Action', choices, instead: '--action' };
  const action = input.action ?? choices[await context.ask.choose(question)];
  return { ...title, ...times, action, ...(await askConfig(context, String(action), input)) };
};

const askTimes = async (context: Context, input: ConfigFields): Promise<ConfigFields> => {
  const when = await needed(context, {
    ask:
      'Schedule (minute, hour, day, month and weekday, such as 0 9 * * 1-5; or a rule, ' +
      'such as FREQ=DAILY)',
    instead: '--cron or --rrule',
  });
  const rule = /^(FREQ=|RRULE|DTSTART)/i.test(when) ? 'schedule.rrule' : 'schedule.cron';
  if (input['schedule.timezone'] !== undefined) return { [rule]: when };
  const initial = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const timezone = await context.ask.text({ ask: 'Time zone', initial, instead: '--timezone' });
  return { [rule]: when, 'schedule.timezone': timezone };
};

const askConfig = async (
  context: Context,
  action: string,
  input: ConfigFields,
): Promise<ConfigFields> => {
  const configQuestion = NEEDED[action];
  if (!configQuestion || input[`actionConfig.${configQuestion.field}`] !== undefined) return {};
  const typed = await needed(context, configQuestion);
  const client = await context.client();
  if (action === 'run_hook') return { 'actionConfig.hookId': await hookCrud.id(client, typed) };
  if (action === 'start_pipeline') return askPipeline(context, client, typed);
  return { [`actionConfig.${configQuestion.field}`]: typed };
};

const askPipeline = async (
  context: Context,
  client: Client,
  typed: string,
): Promise<ConfigFields> => {
  const id = await templateCrud.id(client, typed);
  const { parameters } = await client.templates.get({ id, query: {} });
  const params = await askValues(context, parameters);
  return { 'actionConfig.templateId': id, 'actionConfig.params': params };
};

const NEEDED: Record<string, { field: string; ask: string; instead: string }> = {
  notify: { field: 'notifyMessage', ask: 'Message', instead: '--notify-message' },
  spawn_agent: { field: 'agentPrompt', ask: 'Prompt of the agent', instead: '--agent-prompt' },
  run_hook: { field: 'hookId', ask: 'Name of the hook', instead: '--hook-id' },
  start_pipeline: { field: 'templateId', ask: 'Name of the template', instead: '--template-id' },
};

const needed = ({ ask }: Context, question: { ask: string; instead: string }): Promise<string> =>
  ask.text({
    ask: question.ask,
    instead: question.instead,
    refuse: (typed) => (typed === '' ? 'A value is required.' : undefined),
  });
