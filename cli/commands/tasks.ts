import { contracts, type TaskView } from '../../src/client/index.js';
import { followToEnd } from '../agents/tail.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, command, switchFlag } from '../command.js';
import { crud } from '../crud.js';
import { requestFields, requestFrom } from '../fields.js';
import { withOrgColumn } from '../orgslugs.js';
import { requestAll } from '../pages.js';
import { requestCommand } from '../request.js';
import { oneLine, safe, zonedTime } from '../text.js';

const endpoints = await contracts.tasks();

const URGENCY = ['', 'low', 'high', 'urgent'];

const columns = buildColumns<TaskView>(
  ['id:data', 'short=id:tail', 'status:state'],
  {
    name: 'due',
    value: ({ due, dueAt }) => due ?? dueAt,
    show: ({ due, dueAt, timezone }) => due ?? (dueAt === null ? '' : zonedTime(dueAt, timezone)),
  },
  {
    name: 'priority',
    value: ({ priority }) => priority,
    show: ({ priority }) => URGENCY[priority] ?? String(priority),
  },
  ['title'],
  { name: 'tags', value: ({ tags }) => tags.join(' '), isRare: true },
  {
    name: 'trust',
    value: ({ untrusted }) => (untrusted ? 'untrusted' : ''),
    isState: true,
    isRare: true,
  },
  {
    name: 'assignee',
    value: ({ assignee }) => assignee,
    show: ({ assignee }) => (assignee === 'me' ? '' : assignee.slice(-6)),
    isRare: true,
  },
  ['notes:data', 'parent=parentId:data', 'created=createdAt:data'],
);

const taskCrud = crud({
  noun: 'task',
  rows: 'tasks',
  endpoints,
  columns,
  named: ({ id, title }) => ({ id, name: title }),
});

/** A task as it is named within another: `4ew6rt  open  Renew the certificate`. */
const partLine = ({ id, status, title }: TaskView): string =>
  oneLine(`  ${id.slice(-6)}  ${status}  ${title}`);

const get = taskCrud.request({
  name: 'get',
  args: '<task>',
  endpoint: endpoints.get,
  examples: ['4ew6rt', '4ew6rt --json', '4ew6rt --fields title,notes'],
  notes: ['On a terminal, subtasks and blocking tasks are also shown.'],
  show: async (context, task) => {
    const { out } = context;
    out.item(task, await withOrgColumn(context, [task], columns));
    if (out.format !== 'table' || out.isChosen) return;
    const client = await context.client();
    const { tasks: parts } = await client.tasks.list({ query: { parentId: task.id, limit: 200 } });
    if (parts.length > 0) out.line('Subtasks:');
    for (const part of parts) out.line(partLine(part));
    const blockers = await requestAll(task.blockedBy, (id) => client.tasks.get({ id }));
    if (blockers.length > 0) out.line('Blocked by:');
    for (const blocker of blockers) out.line(partLine(blocker));
  },
});

const create = requestCommand({
  name: 'create',
  args: '<title>',
  endpoint: endpoints.create,
  examples: [
    '"Renew the certificate" --due 2026-02-01 --priority 2',
    '"Call Grace" --due-at 2026-02-01T09:30 --reminder-minutes 10',
    '"Order the parts" --tags office --json',
    '- < task.txt',
  ],
  except: ['title'],
  areFields: true,
  mayBePiped: 'title',
  asks: [],
  notes: [
    '--due-at without an offset is a time in your time zone, or in the time zone of --timezone.',
  ],
  show: ({ out }, task) => out.done('Task created.', task, columns),
});

const complete = taskCrud.request({
  name: 'complete',
  args: '<task>',
  endpoint: endpoints.complete,
  examples: ['4ew6rt', '"Renew the certificate"', '4ew6rt --cascade --json'],
  except: [],
  show: ({ out }, task) => out.done(`Completed: ${safe(task.title)}`, task, columns),
});

const remove = taskCrud.request({
  name: 'delete',
  args: '<task>',
  endpoint: endpoints.delete,
  examples: [
    '4ew6rt',
    '4ew6rt --cascade --yes',
    'tasks list --status archived --output id | xargs -n1 adjutant tasks delete --yes',
  ],
  except: [],
  confirm: ({ args }) => `Delete the task ${safe(args.task)}?`,
  show: ({ out }) => out.note('Deleted.'),
});

const delegate = command({
  name: 'delegate',
  args: '<task>',
  calls: [endpoints.delegate],
  examples: ['4ew6rt', '4ew6rt --follow', '"Sum up the week" --model digest --json'],
  fields: () => requestFields(endpoints.delegate.body),
  flags: {
    follow: switchFlag('Follow the agent until it ends. Exit code 1 if the agent did not complete'),
  },
  notes: ['The agent receives the title and the notes. The agent or you complete the task.'],
  seeAlso: 'adjutant agents tail, adjutant agents stop',
  run: async (context, { args, fields, flags }) => {
    const body = await requestFrom(endpoints.delegate.body, { fields }, context.at);
    const { client, id } = await taskCrud.find(context, args.task);
    const task = await client.tasks.delegate({ id, body });
    if (!flags.follow) {
      const tail = task.assignee.slice(-6);
      context.out.done(`Delegated. Follow it: adjutant agents tail ${tail}`, task, columns);
      return;
    }
    await followToEnd(context, await client.agents.get({ id: task.assignee }));
  },
});

export const tasksGroup: CommandGroup = {
  commands: [
    taskCrud.list({
      examples: ['', '--view next', '--due today --tags office,phone', '--q certificate --json'],
      next: (rows) => {
        if (rows.length === 0) return 'No tasks. Create one: adjutant tasks create "…"';
        const open = rows.find(({ status }) => status === 'open' || status === 'in_progress');
        return open && `Complete it: adjutant tasks complete ${open.id.slice(-6)}`;
      },
      seeAlso: 'adjutant tasks list --due overdue, --due week',
    }),
    get,
    create,
    taskCrud.update({
      examples: [
        '4ew6rt --due 2026-02-03',
        '4ew6rt --due null --parent-id null',
        '4ew6rt --status in_progress --priority 3',
        '4ew6rt --edit',
      ],
      notes: ['null removes a value, and --tags "" removes all tags.'],
    }),
    complete,
    taskCrud.act('reopen', endpoints.reopen, {
      examples: ['4ew6rt', '"Renew the certificate"', '4ew6rt --json'],
      message: ({ title }) => `Reopened: ${safe(title)}`,
    }),
    delegate,
    remove,
  ],
  notes: ['Identify a task by its id, the last six characters of the id, or its title.'],
};

const { feed, 'end-feed': endFeed } = endpoints;

export const taskFeedGroup: CommandGroup = {
  commands: [
    requestCommand({
      name: 'create',
      endpoint: feed,
      examples: ['', '--json', '--json | jq -r .url'],
      notes: [
        'Subscribe to the address in Google Calendar, Apple Calendar or another calendar.',
        'Everyone who has the address can read the tasks. A new address replaces the ' +
          'earlier one.',
      ],
      show: ({ out }, made) => {
        out.done(
          'Calendar address of your tasks, shown only once:',
          made,
          buildColumns(['url:whole']),
        );
        if (out.format === 'table') out.line(made.url);
      },
    }),
    requestCommand({
      name: 'delete',
      endpoint: endFeed,
      examples: ['', '--yes', '--yes --quiet'],
      confirm: () => 'Disable the calendar address?',
      show: ({ out }) => out.note('Disabled. Calendars receive no more updates.'),
    }),
  ],
};
