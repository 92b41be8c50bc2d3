import { agentAction } from '../kernel/contract/agentaction.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const scheduleNote = () =>
  s
    .nullable(s.anyText(1000))
    .description('How the schedule is read. `null` if it can be read in one way only');

const action = () =>
  s.oneOf(
    'RecurringAction',
    ...(['create_task', 'spawn_agent', 'start_pipeline', 'run_hook', 'notify'] as const),
  );
const missed = () => s.oneOf('MissedPolicy', 'skip', 'once', 'all');
const overlap = () => s.oneOf('OverlapPolicy', 'skip', 'queue');
const runStatus = () =>
  s.oneOf('RecurringRunStatus', 'queued', 'running', 'success', 'error', 'skipped');

const times = {
  cron: s.optional(s.text(200).example('0 9 * * 1-5').description('Five fields')),
  rrule: s.optional(
    s
      .text(10_000)
      .description(
        'A rule of RFC 5545, as in `FREQ=WEEKLY;BYDAY=MO`, or the lines `DTSTART`, `RRULE`, `EXDATE` and `RDATE` of an event in iCalendar',
      ),
  ),
};
const NewRecurrence = s.object('NewRecurrence', {
  ...times,
  timezone: s.optional(
    s
      .text(64)
      .example('Europe/Berlin')
      .description('Time zone. Defaults to that of `DTSTART`, or to the one before, or to UTC'),
  ),
});
const Recurrence = s.object('Recurrence', { ...times, timezone: s.text(64) });

const RecurringConfig = s.object('RecurringConfig', {
  title: s.optional(s.text(500)),
  notes: s.optional(s.anyText(20_000)),
  priority: s.optional(s.whole(0, 3)),
  tags: s.optional(s.list(s.text(50), 20).label('RecurringTags')),
  dueInMinutes: s.optional(s.whole(0, 525_600)),
  ...agentAction,
  hookId: s.optional(s.text(80)),
  payload: s.optional(s.json()),
  templateId: s.optional(s.text(80)),
  params: s.optional(s.record('PipelineParams')),
});
export type RecurringConfig = s.Static<typeof RecurringConfig>;

const settings = {
  enabled: s.optional(s.flag()),
  missed: s.optional(missed()),
  overlap: s.optional(overlap()),
  endsAt: s.optional(s.nullable(s.moment())),
  maxRuns: s.optional(s.nullable(s.whole(1, 1_000_000_000))),
};

const NewRecurringTask = s.object('NewRecurringTask', {
  title: s.text(500),
  schedule: NewRecurrence,
  action: action(),
  actionConfig: s.optional(RecurringConfig),
  ...settings,
});
export type NewRecurringTask = s.Static<typeof NewRecurringTask>;

const RecurringTaskChanges = s
  .ignoring(
    s.object('RecurringTaskChanges', {
      title: s.optional(s.text(500)),
      schedule: s.optional(NewRecurrence),
      action: s.optional(action()),
      actionConfig: s.optional(RecurringConfig),
      ...settings,
    }),
    ...['id', 'note', 'nextRunAt', 'lastRunAt', 'lastStatus', 'lastError', 'runCount'],
    ...['createdAt', 'updatedAt'],
  )
  .min(1);
export type RecurringTaskChanges = s.Static<typeof RecurringTaskChanges>;

export const RecurringTask = s.object('RecurringTask', {
  id: s.id('recurring'),
  title: s.text(500),
  schedule: Recurrence,
  note: scheduleNote(),
  action: action(),
  actionConfig: RecurringConfig,
  enabled: s.flag(),
  missed: missed(),
  overlap: overlap(),
  nextRunAt: s.nullable(s.time()),
  lastRunAt: s.nullable(s.time()),
  lastStatus: s.nullable(runStatus()),
  lastError: s.nullable(s.anyText(100_000)),
  runCount: s.whole(0, Number.MAX_SAFE_INTEGER).description('Runs at due times'),
  endsAt: s.nullable(s.time()),
  maxRuns: s.nullable(s.whole(1, 1_000_000_000)),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type RecurringTask = s.Static<typeof RecurringTask>;

export const RecurringRun = s.object('RecurringRun', {
  id: s.id('recurringrun'),
  recurringTaskId: s.id('recurring'),
  dueAt: s.nullable(s.time()).description('Null: it was run by hand'),
  status: runStatus(),
  reason: s.nullable(s.anyText(1000)),
  error: s.nullable(s.anyText(100_000)),
  agentId: s.nullable(s.id('agent')),
  taskId: s.nullable(s.id('task')),
  executionId: s.nullable(s.id('execution')),
  notificationId: s.nullable(s.id('notification')),
  pipelineId: s.nullable(s.id('pipeline')),
  startedAt: s.nullable(s.time()),
  finishedAt: s.nullable(s.time()),
});
export type RecurringRun = s.Static<typeof RecurringRun>;

const example = {
  title: 'Weekly report',
  schedule: { cron: '0 9 * * 1', timezone: 'Europe/Berlin' },
  action: 'notify',
  actionConfig: { notifyMessage: 'The report is due.' },
};

export const recurring = contract({
  list: endpoint.get('/api/recurring-tasks', {
    summary: 'List your recurring tasks',
    query: pageQuery('RecurringTaskQuery', {
      enabled: s.optional(s.queryFlag()),
      action: s.optional(action()),
    }),
    reply: pageOf('recurringTasks', RecurringTask),
  }),
  create: endpoint.post('/api/recurring-tasks', {
    summary: 'Have something done at the times of a schedule',
    example,
    body: NewRecurringTask,
    reply: RecurringTask,
    status: 201,
  }),
  preview: endpoint.post('/api/recurring-tasks/preview', {
    summary: 'Show the next times of a schedule, and save nothing',
    example: { schedule: { rrule: 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16;BYMINUTE=0' }, count: 3 },
    body: s.object('RecurrencePreview', {
      schedule: NewRecurrence,
      count: s.optional(s.whole(1, 100)),
    }),
    reply: s.object('RecurrenceTimes', {
      times: s.list(s.time(), 100).label('DueTimes'),
      timezone: s.text(64),
      note: scheduleNote(),
    }),
  }),
  get: endpoint.get('/api/recurring-tasks/{id}', {
    summary: 'Show a recurring task',
    reply: RecurringTask,
  }),
  update: endpoint.patch('/api/recurring-tasks/{id}', {
    summary: 'Change what is given, keep the rest',
    example: { enabled: false },
    body: RecurringTaskChanges,
    reply: RecurringTask,
  }),
  delete: endpoint.delete('/api/recurring-tasks/{id}', {
    summary: 'Delete a recurring task and its runs; what it started goes on',
  }),
  runs: endpoint.get('/api/recurring-tasks/{id}/runs', {
    summary: 'Runs of a recurring task, newest first',
    query: pageQuery('RecurringRunQuery', { status: s.optional(runStatus()) }),
    reply: pageOf('runs', RecurringRun),
  }),
  run: endpoint.post('/api/recurring-tasks/{id}/run', {
    summary: 'Run it now; its schedule stays as it is',
    reply: RecurringRun,
    status: 202,
  }),
});
