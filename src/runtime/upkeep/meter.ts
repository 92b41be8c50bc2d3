import { Counter, Gauge, Registry } from 'prom-client';

export interface Meter {
  request(method: string, status: number): void;
  delivery(verdict: string): void;
  /** Prometheus' text format. */
  text(): Promise<string>;
}

/** Counters and gauges; what is asked for only when somebody looks is read then. */
export const createMeter = (gauges: Record<string, { help: string; read(): number }>): Meter => {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'adjutant_http_requests_total',
    help: 'Requests answered, by method and status',
    labelNames: ['method', 'status'],
    registers,
  });
  const deliveries = new Counter({
    name: 'adjutant_deliveries_total',
    help: 'Webhooks received, by verdict',
    labelNames: ['verdict'],
    registers,
  });
  for (const [name, { help, read }] of Object.entries(gauges)) {
    new Gauge({
      name: `adjutant_${name}`,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  return {
    request: (method, status) => requests.inc({ method, status }),
    delivery: (verdict) => deliveries.inc({ verdict }),
    text: () => registry.metrics(),
  };
};
