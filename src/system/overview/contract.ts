import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);

/** The minutes that the rates cover. */
export const MINUTES = 60;
/** The limit for each kind of item. */
export const MAX_NEEDS = 10;

const Part = s.object('OverviewPart', {
  name: s.text(60),
  status: s.oneOf('OverviewStatus', 'ok', 'warn', 'down'),
  latencyMs: s
    .nullable(s.number(0, 1_000_000))
    .description('Duration of the health check, in milliseconds. `null` if not measured'),
  detail: s.anyText(500),
});

export const Need = s.object('Need', {
  kind: s.oneOf(
    'NeedKind',
    'approval',
    'failed',
    'expiring',
    'memory',
    'task',
    'recurring',
    'stage',
    'mailbox',
    'mail',
  ),
  id: s
    .text(80)
    .description(
      'ID of the approval, execution, credential, memory, task, recurring task, pipeline run, mail account or sent e-mail, depending on `kind`',
    ),
  title: s
    .text(400)
    .description(
      'Title, depending on `kind`: tool and action, name of the hook or credential, text of the memory, title of the task or recurring task, pipeline run and stage, address of the mail account, or subject of the e-mail',
    ),
  detail: s.anyText(1000),
  agentId: s
    .nullable(s.id('agent'))
    .description('ID of the agent that caused the item. `null` if no agent caused the item'),
  hookId: s
    .nullable(s.id('hook'))
    .description('ID of the hook whose execution failed. `null` for other kinds of items'),
  untrusted: s
    .nullable(s.boolean())
    .description(
      'Whether input from outside, such as a webhook payload, caused the item. `null` if this does not apply to the kind of item',
    ),
  at: s
    .time()
    .description(
      'Time at which the item occurred or, for an item with a deadline, at which the item expires or is due',
    ),
});

export const Overview = s.object('Overview', {
  version: s.text(40),
  at: s.time(),
  uptimeSeconds: count(),
  publicUrl: s.nullable(s.text(500)).description('Public address. `null` if there is none'),
  reach: s
    .oneOf('PublicReach', 'none', 'unverified', 'verified', 'failed')
    .description(
      'Result of the last check of the public address. `none` if there is no address. `unverified` if the address was not checked, or the tunnel is not running',
    ),
  parts: s.list(Part, 50),
  queue: s.object('OverviewQueue', {
    waiting: count(),
    running: count(),
    atOnce: count().description('Maximum number of jobs that run at once'),
    oldestMs: s
      .nullable(count())
      .description(
        'Waiting time of the oldest queued execution or agent of all users, in milliseconds. `null` if none is queued',
      ),
  }),
  rates: s
    .list(count(), MINUTES)
    .description('Number of executions of your hooks in each of the last 60 minutes, oldest first'),
  agents: s.object('OverviewAgents', {
    running: count(),
    queued: count(),
    waitingApproval: count(),
    paused: count(),
  }),
  operations: s.object('OverviewOperations', { running: count(), queued: count() }),
  pipelines: s.object('OverviewPipelines', {
    open: count().description(
      'Number of runs that have not ended. Runs that a stage of another run started do not count',
    ),
    waiting: count().description(
      'Number of stages that wait for your approval or input, in all runs that have not ended',
    ),
  }),
  recurring: s.object('OverviewRecurring', {
    enabled: count(),
    nextAt: s
      .nullable(s.time())
      .description('Next time at which a recurring task is due. `null` if no task is enabled'),
  }),
  mailboxes: s.object('OverviewMailboxes', {
    total: count(),
    watched: count().description('Number of mailboxes whose new mail is processed on arrival'),
    failing: count().description(
      'Number of mailboxes whose status is not `ok`. `needs` contains their errors',
    ),
  }),
  today: s
    .object('OverviewToday', {
      costUsd: s.number(0, 1e9),
      limitUsd: s
        .nullable(s.number(0, 1e9))
        .description('Your cost limit per day (UTC), in USD. `null` if there is no limit'),
      agents: count(),
      executions: count(),
      failed: count(),
    })
    .description('Your usage since midnight UTC. At most 10,000 failed executions are counted'),
  needs: s
    .list(Need, 9 * MAX_NEEDS)
    .description(
      'Items that need your attention, grouped by kind, at most 10 per kind. Within a kind, sorted by expiry or newest first',
    ),
  unread: count().description('Number of unread notifications'),
});

export type Overview = s.Static<typeof Overview>;
export type Need = s.Static<typeof Need>;

export const overview = contract({
  get: endpoint.get('/api/overview', {
    summary: 'Get an overview of the daemon',
    description: 'Contains the health, queue, rates, costs, and items that need your attention.',
    reply: Overview,
  }),
});
