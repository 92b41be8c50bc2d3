import type { Queue } from '../../jobs/module.js';
import { requireIncrementally } from '../../kernel/pieces.js';

type Labels = Record<string, string | number>;

type Counts = Map<string, { labels: Labels; times: number }>;

type Gauges = Record<string, { help: string; read(): number }>;

/** Gauges are read when the metrics are requested. */
export const createMeter = (gauges: Gauges) => {
  const requests: Counts = new Map();
  const deliveries: Counts = new Map();
  let registry: ReturnType<typeof openRegistry> | null = null;
  return {
    request: (method: string, status: number) =>
      count(requests, `${method} ${status}`, { method, status }),
    delivery: (verdict: string) => count(deliveries, verdict, { verdict }),
    /** In Prometheus' text format. */
    text: async (): Promise<string> => {
      registry ??= openRegistry({ requests, deliveries, gauges });
      return (await registry).metrics();
    },
  };
};

const count = (counts: Counts, key: string, labels: Labels): void => {
  const counted = counts.get(key);
  if (counted) counted.times++;
  else counts.set(key, { labels, times: 1 });
};

/** Loaded on first use, since most daemons are never asked for metrics. At once it takes 40 ms. */
const loadLibrary = requireIncrementally({
  library: 'prom-client',
  pieces: [
    '@opentelemetry/api',
    'prom-client/lib/registry.js',
    'prom-client/lib/histogram.js',
    'prom-client/lib/summary.js',
    'prom-client/lib/defaultMetrics.js',
    'prom-client/lib/cluster.js',
  ],
  load: () => import('prom-client'),
});

const openRegistry = async (of: { requests: Counts; deliveries: Counts; gauges: Gauges }) => {
  const { Counter, Gauge, Registry } = await loadLibrary();
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[], counts: Counts): void => {
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { labels, times } of counts.values()) this.inc(labels, times);
      },
    });
  };
  counter(
    'adjutant_http_requests_total',
    'HTTP requests by method and status',
    ['method', 'status'],
    of.requests,
  );
  counter('adjutant_deliveries_total', 'Received webhooks by verdict', ['verdict'], of.deliveries);
  for (const [name, { help, read }] of Object.entries(of.gauges)) {
    new Gauge({
      name: `adjutant_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  return registry;
};

export const createGauges = (of: {
  queue: Queue;
  /** Queue of outbound messages. */
  outgoing: Queue;
  sockets: { stats(): { open: number; slow: number } };
  uptimeSeconds(): number;
}) => ({
  jobs_waiting: { help: 'Waiting jobs', read: () => of.queue.totals().waiting },
  jobs_running: { help: 'Running jobs', read: () => of.queue.totals().running },
  outbox_waiting: {
    help: 'Messages waiting to be sent, and events waiting for their fan-out',
    read: () => of.outgoing.totals().waiting,
  },
  outbox_running: {
    help: 'Messages being sent',
    read: () => of.outgoing.totals().running,
  },
  sockets_open: { help: 'Open sockets on /ws', read: () => of.sockets.stats().open },
  sockets_slow_total: {
    help: 'Sockets closed because the client was too slow',
    read: () => of.sockets.stats().slow,
  },
  resident_memory_bytes: {
    help: 'Resident memory in bytes',
    read: () => process.memoryUsage.rss(),
  },
  uptime_seconds: { help: 'Seconds since the start', read: of.uptimeSeconds },
});
