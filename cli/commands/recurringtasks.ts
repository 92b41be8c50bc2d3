import {
  type Client,
  contracts,
  type RecurringRun,
  type RecurringTask,
} from '../../src/client/index.js';
import { buildColumns, formattedColumn } from '../columns.js';
import { type CommandGroup, type Context, command } from '../command.js';
import { crud } from '../crud.js';
import { usageFault } from '../exit.js';
import { requestFields, requestFrom, withArguments } from '../fields.js';
import { askRecurring } from '../recurring/ask.js';
import { listCommand } from '../request.js';
import { cutToWidth, localTime, oneLine, safe, zonedTime } from '../text.js';

const endpoints = await contracts.recurring();

const formatTaskState = ({ enabled, lastStatus }: RecurringTask): string => {
  if (!enabled) return 'disabled';
  return lastStatus === 'error' ? 'failing' : 'enabled';
};

const columns = buildColumns<RecurringTask>(
  ['id:data', 'short=id:tail', 'title'],
  { name: 'state', value: formatTaskState, isState: true },
  formattedColumn(
    'next',
    ({ nextRunAt }) => nextRunAt,
    // Schedules have a resolution of one minute.
    (time) => localTime(time).replace(/:\d\d$/, ''),
  ),
  ['last=lastRunAt:ago'],
  { name: 'schedule', value: ({ schedule }) => schedule.cron ?? schedule.rrule },
  ['timezone=schedule.timezone', 'action', 'runs=runCount:number', 'error=lastError:data'],
);

interface StartedResource {
  noun: string;
  id: string;
  /** Command that shows it. */
  show?: string;
}

const begunBy = (run: RecurringRun): StartedResource | undefined => {
  const things = [
    { noun: 'pipeline run', id: run.pipelineId, show: 'pipelines get' },
    { noun: 'agent', id: run.agentId, show: 'agents get' },
    { noun: 'task', id: run.taskId, show: 'tasks get' },
    { noun: 'hook execution', id: run.executionId },
    { noun: 'notification', id: run.notificationId },
  ];
  return things.flatMap(({ id, ...each }) => (id === null ? [] : [{ ...each, id }]))[0];
};

const runColumns = buildColumns<RecurringRun>(
  ['id:data', 'short=id:tail', 'due=dueAt:time', 'status:state'],
  {
    name: 'began',
    value: begunBy,
    show: (run) => {
      const begun = begunBy(run);
      return begun ? `${begun.noun} ${begun.id.slice(-6)}` : '';
    },
    isRare: true,
    only: 'table',
  },
  ['reason', 'error'],
  ['agent=agentId:data', 'execution=executionId:data', 'task=taskId:data'],
  ['pipeline=pipelineId:data'],
  ['notification=notificationId:data', 'ended=finishedAt:ago'],
);

const recurringCrud = crud({
  noun: 'recurring',
  argument: 'task',
  rows: 'recurringTasks',
  path: 'recurring',
  endpoints,
  columns,
  named: ({ id, title }) => ({ id, name: title }),
});

const createRecurring = command({
  name: 'create',
  args: '[title]',
  calls: [endpoints.create],
  examples: [
    'standup --cron "0 9 * * 1-5" --timezone Europe/Berlin --action notify --notify-message "Standup"',
    'digest --cron "0 7 * * *" --action spawn_agent --agent-prompt "Sum up the night."',
    'invoices --rrule "FREQ=MONTHLY;BYMONTHDAY=-1;BYHOUR=9" --action notify --notify-message Invoices',
  ],
  fields: () => requestFields(endpoints.create.body, ['title']),
  notes: ['On a terminal, the command asks for missing values.'],
  run: async (context, { args, fields }) => {
    const schema = endpoints.create.body;
    const input = withArguments(fields, args);
    const answers = await askRecurring(context, requestFields(schema), input);
    const body = await requestFrom(schema, { fields: { ...input, ...answers } }, context.at);
    const task = await (await context.client()).recurring.create({ body });
    const { nextRunAt, schedule } = task;
    const next = nextRunAt === null ? 'never' : zonedTime(nextRunAt, schedule.timezone);
    context.out.done(`Created. Next run: ${next}.`, task, columns);
    noteSchedule(context, task.note);
  },
});

/** Explains how an ambiguous schedule is read. */
const noteSchedule = ({ out }: Context, note: string | null): void => {
  if (note !== null && out.format !== 'json') out.note(`${oneLine(note)}.`);
};

/** The API replaces `actionConfig` as a whole, but a flag changes one field. */
const buildTaskChanges = async (
  context: Context,
  { fields, data }: { fields: Record<string, unknown>; data?: string },
  { client, id }: { client: Client; id: string },
) => {
  const isPart = Object.keys(fields).some((path) => path.startsWith('actionConfig.'));
  const before = isPart ? await client.recurring.get({ id }) : null;
  const isKept = before && (fields.action ?? before.action) === before.action;
  const kept = isKept ? { actionConfig: before.actionConfig } : {};
  return requestFrom(
    endpoints.update.body,
    { fields: { ...kept, ...fields }, ...(data !== undefined && { data }) },
    context.at,
  );
};

const previewTimes = command({
  name: 'preview',
  args: '[task]',
  calls: [endpoints.preview, endpoints.get],
  examples: [
    '--cron "30 2 * * *" --timezone Europe/Berlin',
    '--rrule "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16" --count 3',
    'standup --count 3',
    '--cron "0 9 * * 1-5" --json',
  ],
  fields: () => requestFields(endpoints.preview.body),
  notes: [
    'With a recurring task: the due times of the task, in the time zone of --timezone if set.',
    'A terminal shows local times of the time zone, a pipe shows UTC.',
  ],
  run: async (context, { args: { task }, fields }) => {
    const saved = task === undefined ? {} : await fetchTaskSchedule(context, task, fields);
    const schema = endpoints.preview.body;
    const body = await requestFrom(schema, { fields: { ...saved, ...fields } }, context.at);
    const reply = await (await context.client()).recurring.preview({ body });
    const { out } = context;
    if (out.format === 'json') return out.json(reply);
    const isShort = out.format === 'table';
    for (const time of reply.times) out.line(isShort ? zonedTime(time, reply.timezone) : time);
    noteSchedule(context, reply.note);
  },
});

const fetchTaskSchedule = async (
  context: Context,
  task: string,
  input: Record<string, unknown>,
) => {
  const isTimed = ['schedule.cron', 'schedule.rrule'].some((path) => input[path] !== undefined);
  if (isTimed) throw usageFault('Pass either a recurring task, or --cron or --rrule.');
  const { client, id } = await recurringCrud.find(context, task);
  const { cron, rrule, timezone } = (await client.recurring.get({ id })).schedule;
  return { 'schedule.cron': cron, 'schedule.rrule': rrule, 'schedule.timezone': timezone };
};

const runNow = recurringCrud.request({
  name: 'run',
  args: '<task>',
  endpoint: endpoints.run,
  examples: ['standup', 'standup --json', '4ew6rt --output id'],
  show: ({ out }, run) => out.done(formatRunOutcome(run), run, runColumns),
});

const formatRunOutcome = (run: RecurringRun): string => {
  const begun = begunBy(run);
  const why = run.error ?? run.reason;
  const state = oneLine(`The run is ${run.status}${why === null ? '' : `: ${why}`}.`);
  if (!begun) return state;
  const tail = begun.id.slice(-6);
  const look = begun.show === undefined ? '' : ` Show it: adjutant ${begun.show} ${tail}`;
  const failure = run.status === 'error' ? `${state}\n` : '';
  return `${failure}Started: ${begun.noun} ${tail}.${look}`;
};

const listRuns = listCommand({
  endpoint: endpoints.runs,
  name: 'runs',
  args: '<task>',
  examples: ['standup', 'standup --status error', 'standup --limit 1 --json'],
  rows: 'runs',
  columns: runColumns,
  within: async (client, { task }) => ({ id: await recurringCrud.id(client, task) }),
  next: (rows, { task }) =>
    rows.length === 0 ? `No runs yet. Run it now: adjutant recurring run ${task}` : undefined,
});

const switching = (enabled: boolean) => ({
  summary: enabled ? 'Enable a recurring task' : 'Disable a recurring task',
  examples: ['standup', 'standup --json', '4ew6rt --output id'],
  body: { enabled },
  message: ({ title }: RecurringTask) =>
    `${enabled ? 'Enabled' : 'Disabled'}: ${safe(cutToWidth(title, 60))}`,
});

export const recurringGroup: CommandGroup = {
  commands: [
    recurringCrud.list({
      examples: ['', '--no-enabled', '--action spawn_agent --json'],
      next: (rows) =>
        rows.length === 0
          ? 'No recurring tasks. Create one: adjutant recurring create --help'
          : undefined,
    }),
    recurringCrud.get({ examples: ['standup', 'standup --json', '4ew6rt --fields nextRunAt'] }),
    createRecurring,
    recurringCrud.update({
      examples: [
        'standup --cron "30 9 * * 1-5"',
        'standup --missed all --overlap queue',
        'standup --edit',
      ],
      notes: [
        'A flag changes one field. In --data, actionConfig is replaced as a whole.',
        'null removes an end: --ends-at null, --max-runs null.',
      ],
      body: buildTaskChanges,
    }),
    recurringCrud.act('enable', endpoints.update, switching(true)),
    recurringCrud.act('disable', endpoints.update, switching(false)),
    runNow,
    listRuns,
    previewTimes,
    recurringCrud.delete({
      examples: ['standup', 'standup --yes', '4ew6rt --yes'],
      ask: ({ title }) => `Delete ${safe(cutToWidth(title, 60))} and its runs?`,
    }),
  ],
  notes: ['Identify a recurring task by its title, its id, or the last six characters of the id.'],
};
