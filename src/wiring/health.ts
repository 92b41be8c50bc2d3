import { isExposed } from '../accounts/auth/rules.js';
import { createAllowances } from '../agents/allowance.js';
import { findUnset } from '../channels/problems.js';
import type { Resource } from '../kernel/route.js';
import { doctorStore } from '../system/doctor/queries.js';
import { doctorResource } from '../system/doctor/routes.js';
import { healthResource } from '../system/health/routes.js';
import { createLook, longestWait } from '../system/maintenance/partreport.js';
import { overviewStore } from '../system/overview/queries.js';
import { overviewResource } from '../system/overview/routes.js';
import { version } from '../version.js';
import { outboxGauges } from './outbox.js';
import type { Parts } from './parts.js';
import { exposureOf } from './tunnel.js';

/** Builds the resources on the daemon's own state, for probes and for operators. */
export const healthResources = (of: Parts, metrics: () => Promise<string>): Resource[] => {
  const { config, clock, store, runtime, state, confinement, tunnel } = of;
  const uptimeSeconds = (): number => Math.max(0, Math.floor((clock.now() - state.since) / 1000));
  const parts = createLook({
    store,
    clock,
    queue: runtime.queue,
    outgoing: runtime.outgoing,
    models: runtime.models,
    home: config.home,
    tunnel,
    confinement: confinement?.detail ?? 'off: no confinement works here, so is the shell tool',
  });
  return [
    healthResource({
      ...{ version, uptimeSeconds, parts, metrics },
      isDraining: () => state.isDraining,
      trustsLoopback: () => !isExposed(exposureOf(config, tunnel)),
    }),
    doctorResource({
      ...{ store: doctorStore(store), clock, parts, prove: of.prove, home: config.home },
      outside: of.heads,
      models: runtime.models.states,
      newestBackup: runtime.backups.rows.newestDone,
      exposure: () => ({ ...exposureOf(config, tunnel), port: of.port() }),
      lostLines: of.recent.lost,
      unset: () => findUnset(store, runtime.platformSettings),
    }),
    overviewResource({
      overview: overviewStore(store),
      clock,
      allowancesOf: createAllowances(store, config),
      daemon: {
        ...{ version, uptimeSeconds, parts, publicUrl: tunnel.address, reach: tunnel.reach },
        queue: async () => ({
          ...runtime.queue.totals(),
          atOnce: config.jobConcurrency,
          oldestMs: await longestWait({ store, clock }),
        }),
      },
    }),
  ];
};

export const gaugesOf = ({ clock, runtime, sockets, state }: Parts) => ({
  jobs_waiting: { help: 'Jobs that wait', read: () => runtime.queue.totals().waiting },
  jobs_running: { help: 'Jobs that run', read: () => runtime.queue.totals().running },
  ...outboxGauges(runtime),
  sockets_open: { help: 'Open sockets on /ws', read: () => sockets.stats().open },
  sockets_slow_total: { help: 'Sockets cut off as slow', read: () => sockets.stats().slow },
  resident_memory_bytes: { help: 'Resident memory', read: () => process.memoryUsage.rss() },
  uptime_seconds: {
    help: 'Seconds since the start',
    read: () => Math.floor((clock.now() - state.since) / 1000),
  },
});
