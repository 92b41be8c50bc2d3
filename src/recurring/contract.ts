import { agentAction } from '../kernel/contract/agentaction.js';
import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const scheduleNote = () =>
  s
    .nullable(s.anyText(1000))
    .description('Interpretation of an ambiguous schedule. `null` if the schedule is unambiguous');

const action = () =>
  s.oneOf(
    'RecurringAction',
    ...(['create_task', 'spawn_agent', 'start_pipeline', 'run_hook', 'notify'] as const),
  );
const missed = () =>
  s
    .oneOf('MissedPolicy', 'skip', 'once', 'all')
    .description(
      'Policy for missed due times. `skip`: no run. `once`: one run for the last missed time. `all`: runs for the last 100 missed times. Defaults to `once`',
    );
const overlap = () =>
  s
    .oneOf('OverlapPolicy', 'skip', 'queue')
    .description(
      'Policy for a due time during a run. `skip`: no run. `queue`: run after the current run ends. Defaults to `skip`',
    );
const runStatus = () =>
  s.oneOf('RecurringRunStatus', 'queued', 'running', 'success', 'error', 'skipped');

const times = {
  cron: s.optional(
    s
      .text(200)
      .example('0 9 * * 1-5')
      .description(
        'Cron expression with five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`',
      ),
  ),
  rrule: s.optional(
    s
      .text(10_000)
      .description(
        'RFC 5545 recurrence rule, such as `FREQ=WEEKLY;BYDAY=MO`, or the lines `DTSTART`, `RRULE`, `EXDATE` and `RDATE` of an iCalendar event',
      ),
  ),
};
const NewRecurrence = s.object('NewRecurrence', {
  ...times,
  timezone: s.optional(
    s
      .text(64)
      .example('Europe/Berlin')
      .description(
        'Time zone. Defaults to the time zone of `DTSTART`, then to the previous time zone, then to UTC',
      ),
  ),
});
const Recurrence = s.object('Recurrence', { ...times, timezone: s.text(64) });

const RecurringConfig = s.object('RecurringConfig', {
  title: s.optional(
    s
      .text(500)
      .description('Title of the created task. Defaults to the title of the recurring task'),
  ),
  notes: s.optional(s.anyText(20_000)),
  priority: s.optional(s.integer(0, 3)),
  tags: s.optional(s.list(s.text(50).normalize('NFC'), 20).label('RecurringTags')),
  dueInMinutes: s.optional(
    s
      .integer(0, 525_600)
      .description(
        'Time until the created task is due, in minutes. If omitted, the task has no due time',
      ),
  ),
  ...agentAction,
  hookId: s.optional(s.text(80)),
  payload: s.optional(s.json().description('JSON object or array for the hook. Defaults to `{}`')),
  templateId: s.optional(s.text(80)),
  params: s.optional(s.record('PipelineParams')),
});
export type RecurringConfig = s.Static<typeof RecurringConfig>;

const ENDS_AT = 'Time after which the task is disabled. `null` means no end';
const MAX_RUNS = 'Number of scheduled runs after which the task is disabled. `null` means no limit';

const settings = {
  enabled: s.optional(s.boolean()),
  missed: s.optional(missed()),
  overlap: s.optional(overlap()),
  endsAt: s.optional(s.nullable(s.moment()).description(ENDS_AT)),
  maxRuns: s.optional(s.nullable(s.integer(1, 1_000_000_000)).description(MAX_RUNS)),
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
  .ignoreReadOnly(
    s.object('RecurringTaskChanges', {
      title: s.optional(s.text(500)),
      schedule: s.optional(NewRecurrence),
      action: s.optional(action()),
      actionConfig: s.optional(RecurringConfig),
      ...settings,
    }),
    ...['id', 'orgId', 'note', 'nextRunAt', 'lastRunAt', 'lastStatus', 'lastError', 'runCount'],
    ...['createdAt', 'updatedAt'],
  )
  .min(1);
export type RecurringTaskChanges = s.Static<typeof RecurringTaskChanges>;

export const RecurringTask = s.object('RecurringTask', {
  id: s.id('recurring'),
  orgId: s.orgId(),
  title: s.text(500),
  schedule: Recurrence,
  note: scheduleNote(),
  action: action(),
  actionConfig: RecurringConfig,
  enabled: s.boolean(),
  missed: missed(),
  overlap: overlap(),
  nextRunAt: s.nullable(s.time()).description('Next due time. `null` if the task is disabled'),
  lastRunAt: s.nullable(s.time()).description('Start of the last run. `null` if there was none'),
  lastStatus: s
    .nullable(runStatus())
    .description('Status of the last run. `null` if there was none'),
  lastError: s
    .nullable(s.anyText(100_000))
    .description('Error of the last run. `null` without an error'),
  runCount: s.integer(0, Number.MAX_SAFE_INTEGER).description('Number of scheduled runs'),
  endsAt: s.nullable(s.time()).description(ENDS_AT),
  maxRuns: s.nullable(s.integer(1, 1_000_000_000)).description(MAX_RUNS),
  createdAt: s.time(),
  updatedAt: s.time(),
});
export type RecurringTask = s.Static<typeof RecurringTask>;

export const RecurringRun = s.object('RecurringRun', {
  id: s.id('recurringrun'),
  recurringTaskId: s.id('recurring'),
  dueAt: s.nullable(s.time()).description('Due time of the run. `null` for a manual run'),
  status: runStatus(),
  reason: s
    .nullable(s.anyText(1000))
    .description('Reason why the run waits or was skipped. `null` otherwise'),
  error: s.nullable(s.anyText(100_000)).description('Error message. `null` without an error'),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that the run spawned. `null` unless the action is `spawn_agent`'),
  taskId: s
    .nullable(s.id('task'))
    .description(
      'ID of the to-do task that the run created. `null` unless the action is `create_task`',
    ),
  executionId: s
    .nullable(s.id('execution'))
    .description(
      'ID of the execution of the hook that the run started. `null` unless the action is `run_hook`',
    ),
  notificationId: s
    .nullable(s.id('notification'))
    .description('ID of the notification that the run sent. `null` unless the action is `notify`'),
  pipelineId: s
    .nullable(s.id('pipeline'))
    .description(
      'ID of the pipeline run that was started. `null` unless the action is `start_pipeline`',
    ),
  startedAt: s.nullable(s.time()).description('Start time. `null` if not started yet'),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
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
    shared: 'member',
    summary: 'List recurring tasks',
    query: pageQuery('RecurringTaskQuery', {
      enabled: s.optional(s.queryFlag()),
      action: s.optional(action()),
    }),
    reply: createPageSchema('recurringTasks', RecurringTask),
  }),
  create: endpoint.post('/api/recurring-tasks', {
    shared: 'admin',
    summary: 'Create a recurring task',
    example,
    body: NewRecurringTask,
    reply: RecurringTask,
    status: 201,
  }),
  preview: endpoint.post('/api/recurring-tasks/preview', {
    summary: 'Preview the due times of a schedule',
    example: { schedule: { rrule: 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16;BYMINUTE=0' }, count: 3 },
    body: s.object('RecurrencePreview', {
      schedule: NewRecurrence,
      count: s.optional(s.integer(1, 100).description('Number of due times. Defaults to 5')),
    }),
    reply: s.object('RecurrenceTimes', {
      times: s.list(s.time(), 100).label('DueTimes'),
      timezone: s.text(64),
      note: scheduleNote(),
    }),
  }),
  get: endpoint.get('/api/recurring-tasks/{id}', {
    shared: 'member',
    summary: 'Get a recurring task',
    reply: RecurringTask,
  }),
  update: endpoint.patch('/api/recurring-tasks/{id}', {
    shared: 'admin',
    summary: 'Update a recurring task',
    example: { enabled: false },
    body: RecurringTaskChanges,
    reply: RecurringTask,
  }),
  delete: endpoint.delete('/api/recurring-tasks/{id}', {
    shared: 'admin',
    summary: 'Delete a recurring task and its recorded runs',
    description: 'The recorded runs of the task are deleted as well.',
  }),
  runs: endpoint.get('/api/recurring-tasks/{id}/runs', {
    shared: 'member',
    summary: 'List runs of a recurring task',
    query: pageQuery('RecurringRunQuery', { status: s.optional(runStatus()) }),
    reply: createPageSchema('runs', RecurringRun),
  }),
  run: endpoint.post('/api/recurring-tasks/{id}/run', {
    shared: 'admin',
    summary: 'Run a recurring task now',
    reply: RecurringRun,
    status: 202,
  }),
});
