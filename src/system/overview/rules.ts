import { iso } from '../../kernel/clock.js';
import type { readDueTasks } from '../../tasks/module.js';
import { MINUTES, type Need } from './contract.js';
import type { OverviewStore } from './queries.js';

const MINUTE_MS = 60_000;
const MAX_DETAIL_LENGTH = 1000;
const MAX_TITLE_LENGTH = 400;

type OverviewQuery<K extends keyof OverviewStore> = Awaited<ReturnType<OverviewStore[K]>>;

/** One count for each of the last 60 minutes, oldest first. The last one is the current minute. */
export const executionRates = (counted: OverviewQuery<'perMinute'>, now: number): number[] => {
  const counts = new Map(counted.map(({ minute, count }) => [minute, count]));
  return Array.from({ length: MINUTES }, (_, at) => {
    const minute = iso(now - (MINUTES - 1 - at) * MINUTE_MS).slice(0, 16);
    return counts.get(minute) ?? 0;
  });
};

export type DueTask = Awaited<ReturnType<typeof readDueTasks>>[number];

const NO_SUBJECT = { agentId: null, hookId: null, untrusted: null };

/** The URL of the call, if it has one, and the reason for the approval. */
const callDetail = ({
  method,
  url,
  reason,
}: {
  method: unknown;
  url: unknown;
  reason: string;
}): string => {
  if (typeof url !== 'string') return reason;
  const request = typeof method === 'string' ? `${method} ${url}` : url;
  return `${request}: ${reason}`.slice(0, MAX_DETAIL_LENGTH);
};

/** Within a kind: the first to expire or the newest first. */
export const listNeeds = (found: {
  approvals: OverviewQuery<'approvals'>;
  failed: OverviewQuery<'failed'>;
  expiring: OverviewQuery<'expiring'>;
  unconfirmed: OverviewQuery<'unconfirmed'>;
  due: DueTask[];
  failing: OverviewQuery<'failing'>;
  stages: OverviewQuery<'stages'>;
  mail: Need[];
}): Need[] => [
  ...found.approvals.map((row) => ({
    ...NO_SUBJECT,
    kind: 'approval' as const,
    id: row.id,
    title: `${row.tool}.${row.action}`,
    detail: callDetail(row),
    agentId: row.agent_id,
    untrusted: row.untrusted === 1,
    at: row.expires_at,
  })),
  ...found.stages.map(stageNeed),
  ...found.failed.map((row) => ({
    ...NO_SUBJECT,
    kind: 'failed' as const,
    id: row.id,
    title: row.name,
    detail: (row.error ?? '').slice(0, MAX_DETAIL_LENGTH),
    agentId: row.agent_id,
    hookId: row.hook_id,
    at: row.finished_at ?? row.created_at,
  })),
  ...found.failing.map(failingNeed),
  ...found.mail,
  ...found.expiring.map(expiringNeed),
  ...found.unconfirmed.map((row) => ({
    ...NO_SUBJECT,
    kind: 'memory' as const,
    id: row.id,
    title: row.text.slice(0, MAX_TITLE_LENGTH),
    detail: `saved after untrusted input was read: adjutant memories confirm ${row.id.slice(-6)}`,
    agentId: row.created_by.startsWith('agent_') ? row.created_by : null,
    untrusted: true,
    at: row.created_at,
  })),
  ...found.due.map((row) => ({
    ...NO_SUBJECT,
    kind: 'task' as const,
    id: row.id,
    title: row.title.slice(0, MAX_TITLE_LENGTH),
    detail: `due ${row.due ?? row.due_at}: adjutant tasks complete ${row.id.slice(-6)}`,
    agentId: row.agent_id,
    untrusted: row.untrusted === 1,
    at: row.ends_at ?? row.created_at,
  })),
];

const stageNeed = (row: OverviewQuery<'stages'>[number]): Need => ({
  ...NO_SUBJECT,
  kind: 'stage',
  id: row.id,
  title: `${row.name}: ${row.key}`.slice(0, MAX_TITLE_LENGTH),
  // The CLI finds runs that were started by stages only by their whole ID.
  detail: `waits for you: adjutant pipelines get ${row.parent_id === null ? row.id.slice(-6) : row.id}`,
  untrusted: row.untrusted === 1,
  at: row.due_at ?? '',
});

const expiringNeed = (row: OverviewQuery<'expiring'>[number]): Need => ({
  ...NO_SUBJECT,
  kind: 'expiring',
  id: row.id,
  title: row.name,
  detail: row.type,
  at: row.expires_at ?? '',
});

const failingNeed = (row: OverviewQuery<'failing'>[number]): Need => ({
  ...NO_SUBJECT,
  kind: 'recurring',
  id: row.id,
  title: row.title.slice(0, MAX_TITLE_LENGTH),
  detail: (row.last_error ?? '').slice(0, MAX_DETAIL_LENGTH),
  at: row.last_run_at ?? row.updated_at,
});
