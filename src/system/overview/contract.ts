import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);

/** Number of minutes that the rates cover. */
export const MINUTES = 60;
/** Limit for each kind of item that needs the user. */
export const MAX_NEEDS = 10;

const Part = s.object('OverviewPart', {
  name: s.text(60),
  status: s.oneOf('OverviewStatus', 'ok', 'warn', 'down'),
  latencyMs: s.nullable(s.amount(0, 1_000_000)),
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
      'Of the approval, the execution, the credential, the memory, the task, the recurring task, the run of a pipeline, the mail account, or the sent e-mail',
    ),
  title: s
    .text(400)
    .description(
      'Tool and action, the name of the hook or credential, the text of the memory, the title of the task or recurring task, the run and its stage, the address of the mail account, or the subject of the e-mail',
    ),
  detail: s.anyText(1000),
  agentId: s.nullable(s.id('agent')),
  hookId: s.nullable(s.id('hook')).description('Whose execution failed'),
  untrusted: s
    .nullable(s.flag())
    .description('Of an approval: what came from outside is behind it'),
  at: s.time().description('When it came about; of what runs out: when it does'),
});

export const Overview = s.object('Overview', {
  version: s.text(40),
  at: s.time(),
  uptimeSeconds: count(),
  publicUrl: s.nullable(s.text(500)),
  reach: s
    .oneOf('PublicReach', 'none', 'unverified', 'verified', 'failed')
    .description('How sure it is that others reach that address'),
  parts: s.list(Part, 50),
  queue: s.object('OverviewQueue', {
    waiting: count(),
    running: count(),
    atOnce: count(),
    oldestMs: s
      .nullable(count())
      .description('For how long the oldest has waited; null: none waits'),
  }),
  rates: s
    .list(count(), MINUTES)
    .description('Executions of your hooks in each of the last 60 minutes, oldest first'),
  agents: s.object('OverviewAgents', {
    running: count(),
    queued: count(),
    waitingApproval: count(),
    paused: count(),
  }),
  operations: s.object('OverviewOperations', { running: count(), queued: count() }),
  pipelines: s.object('OverviewPipelines', {
    open: count().description('Runs that have not ended'),
    waiting: count().description('Stages of these that wait for your answer'),
  }),
  recurring: s.object('OverviewRecurring', {
    enabled: count(),
    nextAt: s.nullable(s.time()).description('The next due time of all of them'),
  }),
  today: s
    .object('OverviewToday', {
      costUsd: s.amount(0, 1e9),
      limitUsd: s.nullable(s.amount(0, 1e9)),
      agents: count(),
      executions: count(),
      failed: count(),
    })
    .description(
      'Since midnight UTC, as the limits count; at most 10,000 failed executions are counted',
    ),
  needs: s.list(Need, 9 * MAX_NEEDS).description('Soonest to run out first, then the newest'),
  unread: count(),
});

export type Overview = s.Static<typeof Overview>;
export type Need = s.Static<typeof Need>;

export const overview = contract({
  get: endpoint.get('/api/overview', {
    summary: 'How it stands, in one call: health, queue, rates, costs, and what needs you',
    reply: Overview,
  }),
});
