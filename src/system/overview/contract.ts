import { contract } from '../../kernel/contract/endpoint.js';
import {
  amount,
  anyText,
  flag,
  id,
  list,
  nullable,
  object,
  oneOf,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const count = () => whole(0, Number.MAX_SAFE_INTEGER);

/** Number of minutes that the rates cover. */
export const MINUTES = 60;
/** Limit for each kind of item that needs the user. */
export const MOST_NEEDS = 10;

const Part = object('OverviewPart', {
  name: text(60),
  status: oneOf('OverviewStatus', 'ok', 'warn', 'down'),
  latencyMs: nullable(amount(0, 1_000_000)),
  detail: anyText(500),
});

export const Need = object('Need', {
  kind: oneOf('NeedKind', 'approval', 'failed', 'expiring'),
  id: text(80).description('Of the approval, the execution or the credential'),
  title: text(400).description('Tool and action, or the name of the hook or credential'),
  detail: anyText(1000),
  agentId: nullable(id('agent')),
  hookId: nullable(id('hook')).description('Whose execution failed'),
  untrusted: nullable(flag()).description('Of an approval: what came from outside is behind it'),
  at: time().description('When it came about; of what runs out: when it does'),
});

export const Overview = object('Overview', {
  version: text(40),
  at: time(),
  uptimeSeconds: count(),
  publicUrl: nullable(text(500)),
  reach: oneOf('PublicReach', 'none', 'unverified', 'verified', 'failed').description(
    'How sure it is that others reach that address',
  ),
  parts: list(Part, 50),
  queue: object('OverviewQueue', {
    waiting: count(),
    running: count(),
    atOnce: count(),
    oldestMs: nullable(count()).description('For how long the oldest has waited; null: none waits'),
  }),
  rates: list(count(), MINUTES).description(
    'Executions of your hooks in each of the last 60 minutes, oldest first',
  ),
  agents: object('OverviewAgents', {
    running: count(),
    queued: count(),
    waitingApproval: count(),
    paused: count(),
  }),
  today: object('OverviewToday', {
    costUsd: amount(0, 1e9),
    limitUsd: nullable(amount(0, 1e9)),
    agents: count(),
    executions: count(),
    failed: count(),
  }).description('Since midnight UTC, as the limits count; at most 10,000 executions are counted'),
  needs: list(Need, 3 * MOST_NEEDS).description('Soonest to run out first, then the newest'),
  unread: count(),
});

export type Overview = Static<typeof Overview>;
export type Need = Static<typeof Need>;

export const overview = contract({
  get: {
    method: 'GET',
    path: '/api/overview',
    summary: 'How it stands, in one call: health, queue, rates, costs, and what needs you',
    reply: Overview,
  },
});
