import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

export const taskTitle = () => s.text(500).pattern(/\S/, 'non-blank text');
export const taskNotes = () => s.anyText(10_000);
export const taskPriority = () =>
  s.integer(0, 3).description('Priority from 0 to 3. 3 is the most urgent');
export const taskTag = () =>
  s
    .text(60)
    .normalize('NFC')
    .pattern(/^[^\s,][^,]*$/, 'no comma or leading space');
export const taskTags = () => s.list(taskTag(), 20).unique().label('TaskTags');
export const taskDay = () =>
  Joi.string<string>()
    .pattern(/^\d{4}-\d{2}-\d{2}$/, 'YYYY-MM-DD, such as 2026-01-31')
    .meta({ format: 'date' })
    .example('2026-01-31');
/** A time without an offset is a local time in the time zone of the task. */
export const taskTime = () =>
  Joi.string<string>()
    .max(40)
    .pattern(
      /^\s*\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/i,
      'YYYY-MM-DDTHH:MM with optional seconds and offset, such as 2026-01-31T09:30 or 2026-01-31T09:30+02:00',
    )
    .meta({ format: 'date-time' })
    .example('2026-01-31T09:30:00.000Z');
export const taskStatus = () => s.oneOf('TaskStatus', 'open', 'in_progress', 'done', 'archived');
export const taskDueFilter = () => s.oneOf('TaskDue', 'overdue', 'today', 'week');
export const taskBlockers = () => s.list(s.id('task'), 100).unique();
const reminder = () => s.nullable(s.integer(0, 40_320));

const about = {
  due: 'Day on which the task is due. Cannot be combined with `dueAt`. `null` removes the due day',
  dueAt:
    'Time at which the task is due. Without an offset it is a local time in `timezone`. Cannot be combined with `due`. `null` removes the due time',
  timezone: 'Time zone of the task. `null`, the default, follows your notification preferences',
  reminderMinutes:
    'Time of the reminder before `dueAt`, in minutes. `null` disables the reminder. Defaults to your notification preferences',
  parentId: 'ID of the parent task. `null` if the task is not a subtask',
  blockedBy: 'IDs of the tasks that must be completed first',
};

export const Task = s.object('Task', {
  id: s.id('task'),
  orgId: s.orgId(),
  title: taskTitle(),
  notes: s.nullable(taskNotes()).description('Notes about the task. `null` if there are none'),
  status: taskStatus(),
  priority: taskPriority(),
  due: s.nullable(taskDay()).description('Day on which the task is due. `null` without a due day'),
  dueAt: s
    .nullable(s.time())
    .description('Time at which the task is due. `null` without a due time'),
  timezone: s.text(64).example('Europe/Berlin'),
  reminderMinutes: reminder().description(
    'Time of the reminder before the task is due, in minutes. `null` without a reminder',
  ),
  tags: taskTags(),
  parentId: s
    .nullable(s.id('task'))
    .description('ID of the parent task. `null` if the task is not a subtask'),
  blockedBy: taskBlockers(),
  assignee: s
    .text(80)
    .description('Assignee of the task: `me`, or the ID of an agent that works on the task'),
  untrusted: s
    .boolean()
    .description(
      'Whether the task contains changes by a hook, or by an agent or pipeline run that has read content from outside',
    ),
  source: s.object('TaskSource', {
    kind: s.oneOf('TaskSourceKind', 'person', 'agent', 'execution', 'recurring'),
    id: s
      .nullable(s.text(80))
      .description(
        'ID of the agent, hook execution, pipeline run or recurring task. `null` for a person',
      ),
  }),
  recurringTaskId: s
    .nullable(s.text(80))
    .description(
      'ID of the recurring task that created the task. `null` if no recurring task created the task',
    ),
  completedAt: s
    .nullable(s.time())
    .description('Time of the completion. `null` if the task is not done'),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type TaskView = s.Static<typeof Task>;

const writableFields = {
  notes: s.optional(
    s.nullable(taskNotes()).description('Notes about the task. `null` if there are none'),
  ),
  priority: s.optional(taskPriority()),
  due: s.optional(s.nullable(taskDay()).description(about.due)),
  dueAt: s.optional(s.nullable(taskTime()).description(about.dueAt)),
  timezone: s.optional(s.nullable(s.text(64)).description(about.timezone)),
  reminderMinutes: s.optional(reminder().description(about.reminderMinutes)),
  tags: s.optional(taskTags()),
  parentId: s.optional(s.nullable(s.id('task')).description(about.parentId)),
  blockedBy: s.optional(taskBlockers().description(about.blockedBy)),
};

const NewTask = s.object('NewTask', { title: taskTitle(), ...writableFields });
export type NewTask = s.Static<typeof NewTask>;

const TaskChanges = s.ignoreReadOnly(
  s
    .object('TaskChanges', {
      title: s.optional(taskTitle()),
      ...writableFields,
      status: s.optional(taskStatus()),
      assignee: s.optional(
        s
          .text(80)
          .description('Only `me` is accepted. This value takes the task back from an agent'),
      ),
    })
    .min(1),
  ...[
    'id',
    'orgId',
    'untrusted',
    'source',
    'recurringTaskId',
    'completedAt',
    'createdAt',
    'updatedAt',
  ],
);
export type TaskChanges = s.Static<typeof TaskChanges>;

const cascadeQuery = (label: string, description: string) =>
  s.object(label, { cascade: s.optional(s.queryFlag().description(description)) });

export const tasks = contract({
  list: endpoint.get('/api/tasks', {
    shared: 'member',
    unmerged: ['view', 'due'],
    summary: 'List to-do tasks',
    description:
      'A task is an item of your to-do list, with an optional due time and reminder. You or an agent complete it.',
    query: pageQuery('TaskQuery', {
      view: s.optional(
        s
          .oneOf('TaskView', 'next')
          .description(
            'View of the list. `next` lists tasks that can be done now: not done, not blocked and without open subtasks. The view `next` is sorted by due time, then by priority',
          ),
      ),
      due: s.optional(
        taskDueFilter().description(
          'Period in which the tasks are due, in your time zone. `week` is today and the next six days. Done and archived tasks are listed only if `status` requests them. The list is sorted by due time',
        ),
      ),
      status: s.optional(taskStatus()),
      tag: s.optional(s.text(60).normalize('NFC')),
      parentId: s.optional(s.text(80)),
      q: s.optional(
        s
          .text(500)
          .description(
            'Words to search for in titles and notes. A task must contain at least one word',
          ),
      ),
    }),
    reply: createPageSchema('tasks', Task),
  }),
  get: endpoint.get('/api/tasks/{id}', {
    shared: 'member',
    summary: 'Get a to-do task',
    reply: Task,
  }),
  create: endpoint.post('/api/tasks', {
    shared: 'member',
    summary: 'Create a to-do task',
    example: { title: 'Renew the certificate', dueAt: '2026-02-01T09:00:00Z', priority: 2 },
    body: NewTask,
    reply: Task,
    status: 201,
  }),
  update: endpoint.patch('/api/tasks/{id}', {
    shared: 'member',
    summary: 'Update a to-do task',
    example: { due: '2026-02-03', tags: ['servers'] },
    body: TaskChanges,
    reply: Task,
  }),
  delete: endpoint.delete('/api/tasks/{id}', {
    shared: 'admin',
    summary: 'Delete a to-do task',
    query: cascadeQuery(
      'TaskDeletion',
      'Whether to delete subtasks as well. Defaults to `false`: a task with subtasks is refused with 409',
    ),
  }),
  complete: endpoint.post('/api/tasks/{id}/complete', {
    shared: 'member',
    summary: 'Complete a to-do task',
    query: cascadeQuery(
      'TaskCompletion',
      'Whether to complete open subtasks as well. Defaults to `false`: a task with open subtasks is refused with 409',
    ),
    reply: Task,
  }),
  reopen: endpoint.post('/api/tasks/{id}/reopen', {
    shared: 'member',
    summary: 'Reopen a to-do task',
    reply: Task,
  }),
  delegate: endpoint.post('/api/tasks/{id}/delegate', {
    shared: 'member',
    summary: 'Delegate a to-do task to a new agent',
    example: {},
    body: s.object('TaskDelegation', {
      expertId: s.optional(s.text(80)),
      model: s.optional(s.text(200)),
    }),
    reply: Task,
    status: 202,
  }),
  feed: endpoint.post('/api/tasks/feed', {
    summary: 'Create a calendar feed address for your tasks',
    reply: s.object('TaskFeed', {
      token: s.text(100),
      url: s
        .text(2048)
        .description(
          'Address for calendar applications. The address is shown only once and replaces the previous address',
        ),
    }),
    status: 201,
    secret: true,
    unimpersonated: true,
    audit: 'tasks.feed',
  }),
  'end-feed': endpoint.delete('/api/tasks/feed', {
    summary: 'Delete the calendar feed address of your tasks',
    audit: 'tasks.end-feed',
  }),
  calendar: endpoint.get('/api/tasks.ics', {
    summary: 'Get the calendar feed of your tasks (RFC 5545)',
    access: 'public',
    query: s.object('TaskCalendarQuery', {
      token: s.optional(
        s
          .anyText(2000)
          .description('Token of the feed address. Without a valid token the reply is 404'),
      ),
    }),
    reply: s.anyText(30_000_000),
    produces: 'text/calendar',
  }),
});
