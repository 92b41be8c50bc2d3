import type { AllowancesOf } from '../../agents/allowance.js';
import { type Clock, iso } from '../../kernel/clock.js';
import { resource } from '../../kernel/route.js';
import type { PartReport } from '../maintenance/partreport.js';
import { MINUTES, MOST_NEEDS, type Overview, overview } from './contract.js';
import type { OverviewStore } from './queries.js';
import { needsOf, ratesOf } from './rules.js';

export interface OverviewDeps {
  overview: OverviewStore;
  clock: Clock;
  daemon: {
    version: string;
    /** Returns the public address; null if there is none. */
    publicUrl(): string | null;
    reach(): Overview['reach'];
    uptimeSeconds(): number;
    /** Checks every part now. */
    parts(): Promise<PartReport[]>;
    queue(): Promise<Overview['queue']>;
  };
  allowancesOf: AllowancesOf;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Ours: a credential is shown a week before it expires. */
const SOON_MS = 7 * DAY_MS;

export const overviewResource = (deps: OverviewDeps) =>
  resource('overview', overview, {
    get: async (_input, { userId }): Promise<Overview> => {
      const { version, publicUrl, reach, uptimeSeconds, parts, queue } = deps.daemon;
      const now = deps.clock.now();
      const [mine, found, queued] = await Promise.all([
        lookAt(deps, userId, now),
        parts(),
        queue(),
      ]);
      return {
        version,
        at: iso(now),
        uptimeSeconds: uptimeSeconds(),
        publicUrl: publicUrl(),
        reach: reach(),
        parts: found,
        queue: queued,
        ...mine,
      };
    },
  });

/** Collects the figures that belong to the user. */
const lookAt = async (deps: OverviewDeps, userId: string, now: number) => {
  const { overview: store, allowancesOf } = deps;
  const hourAgo = now - MINUTES * MINUTE_MS;
  const midnight = now - (now % DAY_MS);
  const [perMinute, executions, agents, spawned, costUsd, { ofUser }, unread, needs] =
    await Promise.all([
      store.perMinute(userId, hourAgo),
      store.executions(userId, midnight),
      store.agentsByStatus(userId),
      store.agentsSince(userId, midnight),
      store.costOf(userId, iso(now).slice(0, 10)),
      allowancesOf({ userId, hookId: null }),
      store.unread(userId),
      lookForNeeds(deps, userId, now),
    ]);
  const having = (status: string): number =>
    agents.find((each) => each.status === status)?.count ?? 0;
  return {
    rates: ratesOf(perMinute, now),
    agents: {
      running: having('running'),
      queued: having('queued'),
      waitingApproval: having('waiting_approval'),
      paused: having('paused'),
    },
    today: {
      costUsd,
      limitUsd: ofUser.dailyCostUsd,
      agents: spawned,
      executions: executions.count,
      failed: executions.failed,
    },
    needs,
    unread,
  };
};

const lookForNeeds = async ({ overview: store }: OverviewDeps, userId: string, now: number) => {
  const [approvals, failed, expiring] = await Promise.all([
    store.approvals(userId, MOST_NEEDS),
    store.failed(userId, now - MINUTES * MINUTE_MS, MOST_NEEDS),
    store.expiring(userId, iso(now + SOON_MS), MOST_NEEDS),
  ]);
  return needsOf({ approvals, failed, expiring });
};
