import { readDailyLimits } from '../../agents/module.js';
import type { Base } from '../../base.js';
import type { Config } from '../../config.js';
import type { Queue } from '../../jobs/module.js';
import { iso } from '../../kernel/clock.js';
import { resource } from '../../kernel/route.js';
import { readDueTasks } from '../../tasks/module.js';
import { version } from '../../version.js';
import type { PartReport } from '../health/contract.js';
import { longestWait } from '../maintenance/partreport.js';
import type { Tunnel } from '../tunnel/tunnel.js';
import { MAX_NEEDS, MINUTES, type Need, overview } from './contract.js';
import { mailNeeds } from './mail.js';
import { type OverviewStore, overviewStore } from './queries.js';
import { type DueTask, executionRates, listNeeds } from './rules.js';
import { workCounts } from './work.js';

interface OverviewDeps {
  config: Config;
  uptimeSeconds(): number;
  parts(): Promise<PartReport[]>;
  tunnel: Tunnel;
  queue: Queue;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Credentials are shown a week before they expire. */
const SOON_MS = 7 * DAY_MS;

export const overviewResource = (base: Base, deps: OverviewDeps) => {
  const { clock } = base;
  const { config, tunnel, queue } = deps;
  const store = overviewStore(base.store);
  const capsOf = readDailyLimits(base.store, config);
  return resource('overview', overview, {
    get: async (_input, { userId }) => {
      const now = clock.now();
      const due = await readDueTasks(base, userId, MAX_NEEDS);
      const mail = await mailNeeds(base.store.db, { userId, now, limit: MAX_NEEDS });
      const [own, work, { dailyCostUsd }, parts, oldestMs] = await Promise.all([
        loadOverviewFigures(store, { userId, due, mail }, now),
        workCounts(base.store.db, userId),
        capsOf(userId),
        deps.parts(),
        longestWait(base),
      ]);
      return {
        ...own,
        ...work,
        version,
        at: iso(now),
        uptimeSeconds: deps.uptimeSeconds(),
        publicUrl: tunnel.address(),
        reach: tunnel.reach(),
        parts,
        queue: { ...queue.totals(), atOnce: config.jobConcurrency, oldestMs },
        today: { ...own.today, limitUsd: dailyCostUsd },
      };
    },
  });
};

const loadOverviewFigures = async (
  store: OverviewStore,
  { userId, due, mail }: { userId: string; due: DueTask[]; mail: Need[] },
  now: number,
) => {
  const hourAgo = now - MINUTES * MINUTE_MS;
  const midnight = now - (now % DAY_MS);
  const [perMinute, executions, failed, statuses, operations, agents, costUsd, unread, needs] =
    await Promise.all([
      store.perMinute(userId, hourAgo),
      store.executions(userId, midnight),
      store.failures(userId, midnight),
      store.agentsByStatus(userId),
      store.operationsByStatus(userId),
      store.agentsSince(userId, midnight),
      store.costOf(userId, iso(now).slice(0, 10)),
      store.unread(userId),
      findNeeds(store, userId, now),
    ]);
  const having = (status: string): number => countIn(statuses, status);
  return {
    rates: executionRates(perMinute, now),
    agents: {
      running: having('running'),
      queued: having('queued'),
      waitingApproval: having('waiting_approval'),
      paused: having('paused'),
    },
    operations: {
      running: countIn(operations, 'running'),
      queued: countIn(operations, 'queued'),
    },
    today: { costUsd, agents, executions, failed },
    needs: listNeeds({ ...needs, due, mail }),
    unread,
  };
};

const countIn = (counts: { status: string; count: number }[], status: string): number =>
  counts.find((each) => each.status === status)?.count ?? 0;

const findNeeds = async (store: OverviewStore, userId: string, now: number) => {
  const [approvals, stages, failed, expiring, unconfirmed, failing] = await Promise.all([
    store.approvals(userId, MAX_NEEDS),
    store.stages(userId, MAX_NEEDS),
    store.failed(userId, now - MINUTES * MINUTE_MS, MAX_NEEDS),
    store.expiring(userId, iso(now + SOON_MS), MAX_NEEDS),
    store.unconfirmed(userId, MAX_NEEDS),
    store.failing(userId, MAX_NEEDS),
  ]);
  return { approvals, stages, failed, expiring, unconfirmed, failing };
};
