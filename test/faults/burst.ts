import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { webhooks } from '../../src/outbound/webhooks/contract.js';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { partOf } from './dispatch.js';
import { type Endpoints, type Manner, openEndpoints } from './endpoints.js';

export interface Burst {
  /** That wait at one instant, for each endpoint as many. */
  messages: number;
  endpoints: number;
  /** Whether every second endpoint fails. */
  isHalfFailing: boolean;
  /** One after the other, each when the messages to good endpoints of the last have arrived. */
  bursts: number;
}

export interface Drain {
  /** Messages to good endpoints, those that arrived, and all that came more than once so far. */
  expected: number;
  arrived: number;
  twice: number;
  /** From just before they were written down to their arrival, in ms. */
  p50: number;
  p99: number;
}

const BACKLOG = fileURLToPath(new URL('./backlog.js', import.meta.url));
const FAILING: Manner[] = ['broken', 'hanging', 'refusing'];

/** How long messages take that all wait at one instant. Of the first burst nothing is compiled yet. */
export const burst = async (given: Burst): Promise<Drain[]> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-burst-'));
  const delays = new Map<number, number>();
  const endpoints = await openEndpoints((body) => {
    const { timestamp, data } = JSON.parse(body);
    delays.set(data.n, Date.now() - Date.parse(timestamp));
    return data.n;
  });
  const env = { ADJUTANT_EGRESS_ALLOW: endpoints.addresses.join() };
  const daemon = await startDaemon({ home, env, entry: [BACKLOG, String(given.messages)] });
  try {
    await addWebhooks(daemon.url, given, endpoints);
    const drains: Drain[] = [];
    while (drains.length < given.bursts) {
      process.kill(daemon.pid, 'SIGUSR2');
      drains.push(await drain(given, endpoints, delays));
    }
    return drains;
  } finally {
    await daemon.end('SIGKILL');
    endpoints.close();
    await rm(home, { recursive: true });
  }
};

const drain = async (
  { messages, isHalfFailing }: Burst,
  { arrivals }: Endpoints,
  delays: Map<number, number>,
): Promise<Drain> => {
  const expected = isHalfFailing ? messages / 2 : messages;
  const before = arrivals.size;
  const count = async () => arrivals.size - before;
  const arrived = await until(count, (size) => size >= expected, 60_000).catch(count);
  const twice = [...arrivals.values()].filter(({ length }) => length > 1).length;
  const came = [...delays.values()];
  delays.clear();
  return { expected, arrived, twice, p50: partOf(came, 0.5), p99: partOf(came, 0.99) };
};

/** Those with even numbers are good. */
const addWebhooks = async (url: string, given: Burst, of: Endpoints): Promise<void> => {
  const owner = await registerOwner(url);
  for (let n = 0; n < given.endpoints; n++) {
    const isGood = !given.isHalfFailing || n % 2 === 0;
    const manner = isGood ? 'good' : (FAILING[((n - 1) / 2) % FAILING.length] ?? 'broken');
    const name = `endpoint-${n}`;
    const body = { name, url: of.url(manner, name), events: ['task.completed' as const] };
    await owner.call(webhooks.create, { body });
  }
};
