import { inPieces } from '../../kernel/pieces.js';

export interface Meter {
  request(method: string, status: number): void;
  delivery(verdict: string): void;
  /** Returns the figures in Prometheus' text format. */
  text(): Promise<string>;
}

type Labels = Record<string, string | number>;

/** The count for each set of labels. */
type Counts = Map<string, { labels: Labels; times: number }>;

type Gauges = Record<string, { help: string; read(): number }>;

/** Makes the counters and gauges. Gauges are read only when the text is asked for. */
export const createMeter = (gauges: Gauges): Meter => {
  const requests: Counts = new Map();
  const deliveries: Counts = new Map();
  let registry: ReturnType<typeof openRegistry> | null = null;
  return {
    request: (method, status) => count(requests, `${method} ${status}`, { method, status }),
    delivery: (verdict) => count(deliveries, verdict, { verdict }),
    text: async () => {
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

/**
 * Loads the library when the text is first read, since most daemons are never asked. In one piece
 * it takes 40 ms.
 */
const loadLibrary = inPieces({
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
      ...{ name, help, labelNames, registers },
      collect() {
        this.reset();
        for (const { labels, times } of counts.values()) this.inc(labels, times);
      },
    });
  };
  counter(
    'adjutant_http_requests_total',
    'Requests answered, by method and status',
    ['method', 'status'],
    of.requests,
  );
  counter('adjutant_deliveries_total', 'Webhooks received, by verdict', ['verdict'], of.deliveries);
  for (const [name, { help, read }] of Object.entries(of.gauges)) {
    new Gauge({
      ...{ name: `adjutant_${name}`, help, registers },
      collect() {
        this.set(read());
      },
    });
  }
  return registry;
};
