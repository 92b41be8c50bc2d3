import Joi from 'joi';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

/** The title of a task, one line. */
export const taskTitle = () => s.text(500).pattern(/\S/, 'some text');
export const taskNotes = () => s.anyText(10_000);
export const taskPriority = () => s.whole(0, 3).description('3 is the most urgent');
/** A word by which tasks are sorted. */
export const taskTag = () => s.text(60).pattern(/^[^\s,][^,]*$/, 'no comma, no space before it');
export const taskTags = () => s.list(taskTag(), 20).unique().label('TaskTags');
export const taskDay = () =>
  Joi.string<string>()
    .pattern(/^\d{4}-\d{2}-\d{2}$/, 'a day, as 2026-01-31')
    .meta({ format: 'date' })
    .example('2026-01-31');
/** A time; without an offset it is that of clocks in the time zone of the task. */
export const taskTime = () =>
  Joi.string<string>()
    .max(40)
    .pattern(
      /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/,
      'a time, as 2026-01-31T09:30 or 2026-01-31T09:30:00Z',
    )
    .meta({ format: 'date-time' })
    .example('2026-01-31T09:30:00.000Z');
export const taskStatus = () => s.oneOf('TaskStatus', 'open', 'in_progress', 'done', 'archived');
export const taskDueFilter = () => s.oneOf('TaskDue', 'overdue', 'today', 'week');
/** The ids of the tasks that must be done first. */
export const taskBlockers = () => s.list(s.id('task'), 100).unique();
const reminder = () => s.nullable(s.whole(0, 40_320));

const about = {
  due: 'A day; at most one of due and dueAt',
  dueAt:
    'A time, before which you are reminded; without an offset in the time zone of the task; at most one of due and dueAt',
  timezone: 'Where the day ends; that of your notification preferences unless given',
  reminderMinutes: 'You are reminded so long before dueAt; null: not. By your preferences, else',
  parentId: 'The task that it is a part of',
  blockedBy: 'The tasks that must be done first',
};

export const Task = s.object('Task', {
  id: s.id('task'),
  title: taskTitle(),
  notes: s.nullable(taskNotes()),
  status: taskStatus(),
  priority: taskPriority(),
  due: s.nullable(taskDay()),
  dueAt: s.nullable(s.time()),
  timezone: s.text(64).example('Europe/Berlin'),
  reminderMinutes: reminder(),
  tags: taskTags(),
  parentId: s.nullable(s.id('task')),
  blockedBy: taskBlockers(),
  assignee: s.text(80).description('`me`, or the id of the agent that it was delegated to'),
  untrusted: s
    .flag()
    .description('An agent made or changed it after it had read text from outside'),
  source: s.object('TaskSource', {
    kind: s.oneOf('TaskSourceKind', 'person', 'agent', 'execution', 'recurring'),
    id: s.nullable(s.text(80)),
  }),
  recurringTaskId: s.nullable(s.text(80)),
  completedAt: s.nullable(s.time()),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type TaskView = s.Static<typeof Task>;

const given = {
  notes: s.optional(s.nullable(taskNotes())),
  priority: s.optional(taskPriority()),
  due: s.optional(s.nullable(taskDay()).description(about.due)),
  dueAt: s.optional(s.nullable(taskTime()).description(about.dueAt)),
  timezone: s.optional(s.nullable(s.text(64)).description(about.timezone)),
  reminderMinutes: s.optional(reminder().description(about.reminderMinutes)),
  tags: s.optional(taskTags()),
  parentId: s.optional(s.nullable(s.id('task')).description(about.parentId)),
  blockedBy: s.optional(taskBlockers().description(about.blockedBy)),
};

const NewTask = s.object('NewTask', { title: taskTitle(), ...given });
export type NewTask = s.Static<typeof NewTask>;

const TaskChanges = s.ignoring(
  s
    .object('TaskChanges', {
      title: s.optional(taskTitle()),
      ...given,
      status: s.optional(taskStatus()),
      assignee: s.optional(s.text(80).description('`me` takes it back from an agent')),
    })
    .min(1),
  ...['id', 'untrusted', 'source', 'recurringTaskId', 'completedAt', 'createdAt', 'updatedAt'],
);
export type TaskChanges = s.Static<typeof TaskChanges>;

/** The query of a call that may include the parts of a task. */
const withParts = (label: string, about: string) =>
  s.object(label, { cascade: s.optional(s.queryFlag().description(about)) });

export const tasks = contract({
  list: endpoint.get('/api/tasks', {
    summary: 'List your tasks: newest first, or by when they are due',
    query: pageQuery('TaskQuery', {
      view: s.optional(
        s
          .oneOf('TaskView', 'next')
          .description(
            'What can be done now: not done, not blocked, no part open; by due, then priority',
          ),
      ),
      due: s.optional(
        taskDueFilter().description(
          'In your time zone, by due; week: today and the six days after',
        ),
      ),
      status: s.optional(taskStatus()),
      tag: s.optional(s.text(60)),
      parentId: s.optional(s.text(80)),
      q: s.optional(s.text(500).description('Words of which one at least must stand in it')),
    }),
    reply: pageOf('tasks', Task),
  }),
  get: endpoint.get('/api/tasks/{id}', { summary: 'Show a task', reply: Task }),
  create: endpoint.post('/api/tasks', {
    summary: 'Note what is to be done',
    example: { title: 'Renew the certificate', dueAt: '2026-02-01T09:00:00Z', priority: 2 },
    body: NewTask,
    reply: Task,
    status: 201,
  }),
  update: endpoint.patch('/api/tasks/{id}', {
    summary: 'Change a task',
    example: { due: '2026-02-03', tags: ['servers'] },
    body: TaskChanges,
    reply: Task,
  }),
  delete: endpoint.delete('/api/tasks/{id}', {
    summary: 'Delete a task; what it blocked is blocked by it no more',
    query: withParts('TaskDeletion', 'Its parts too; without it a task with parts stays (409)'),
  }),
  complete: endpoint.post('/api/tasks/{id}/complete', {
    summary: 'Mark a task as done; again changes nothing',
    query: withParts('TaskCompletion', 'Its parts too; without it one with open parts stays (409)'),
    reply: Task,
  }),
  reopen: endpoint.post('/api/tasks/{id}/reopen', {
    summary: 'Open a task again that is done or archived',
    reply: Task,
  }),
  delegate: endpoint.post('/api/tasks/{id}/delegate', {
    summary: 'Have an agent work on a task',
    example: {},
    body: s.object('TaskDelegation', {
      expertId: s.optional(s.text(80)),
      model: s.optional(s.text(200)),
    }),
    reply: Task,
    status: 202,
  }),
  feed: endpoint.post('/api/tasks/feed', {
    summary: 'Make the address at which calendars read your tasks; the one before ends',
    reply: s.object('TaskFeed', {
      token: s.text(100),
      url: s.text(2048).description('It is shown this once'),
    }),
    status: 201,
    secret: true,
    unimpersonated: true,
    audit: 'tasks.feed',
  }),
  'end-feed': endpoint.delete('/api/tasks/feed', {
    summary: 'End that address',
    audit: 'tasks.end-feed',
  }),
  calendar: endpoint.get('/api/tasks.ics', {
    summary: 'Your tasks that are due, as a calendar (RFC 5545)',
    access: 'public',
    query: s.object('TaskCalendarQuery', {
      token: s.optional(
        s.anyText(2000).description('Token of the address. Without a valid one the reply is 404'),
      ),
    }),
    reply: s.anyText(30_000_000),
    produces: 'text/calendar',
  }),
});
