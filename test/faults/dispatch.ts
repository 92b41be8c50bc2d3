import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '../../src/client/client.js';
import { webhooks } from '../../src/outbound/webhooks/contract.js';
import { addHook, type Owner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { type Endpoints, type Manner, openEndpoints } from './endpoints.js';

export interface Dispatch {
  /** Deliveries, each of which becomes one message to one endpoint. */
  notices: number;
  /** Over which they come, evenly. */
  seconds: number;
  /** Users, each with a hook and one endpoint; every second endpoint fails. */
  users: number;
}

export interface Delays {
  /** Messages to good endpoints that were acknowledged, and that arrived. */
  expected: number;
  arrived: number;
  /** That came more than once. */
  twice: number;
  /** From when the message was queued to its arrival, in ms. */
  p50: number;
  p99: number;
  longest: number;
  /** The same from the acknowledgement of the delivery: with it all that the hook's run takes. */
  p50Whole: number;
  p99Whole: number;
  /** Attempts at endpoints that fail, and how many deliveries a second were sent in fact. */
  wasted: number;
  rate: number;
}

const SECRET = 'a secret of the dispatch';
const FAILING: Manner[] = ['broken', 'hanging', 'refusing'];

/**
 * The whole way, from a signed delivery to a message at an endpoint, while half of the endpoints
 * refuse, break or hang: how long the messages to the others took.
 */
export const dispatch = async ({ notices, seconds, users }: Dispatch): Promise<Delays> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-dispatch-'));
  const queuedAt = new Map<string, number>();
  const endpoints = await openEndpoints((body) => {
    const { timestamp, data } = JSON.parse(body);
    queuedAt.set(data.executionId, Date.parse(timestamp));
    return data.executionId;
  });
  const env = { ADJUTANT_EGRESS_ALLOW: endpoints.addresses.join() };
  const daemon = await startDaemon({ home, env });
  try {
    await addUsers(daemon.url, users, endpoints);
    const acknowledged: Acknowledged[] = [];
    const since = performance.now();
    await pace({ notices, seconds }, async (n) => {
      const id = await deliver(daemon.url, `hook-${n % users}`, n);
      acknowledged.push({ id, at: Date.now(), isGood: n % 2 === 0 });
    });
    const rate = notices / ((performance.now() - since) / 1000);
    const good = acknowledged.filter(({ isGood }) => isGood);
    const count = async () => endpoints.arrivals.size;
    await until(count, (size) => size >= good.length, 60_000).catch(() => undefined);
    return {
      ...delaysOf({ good, queuedAt, endpoints }),
      wasted: endpoints.wasted(),
      rate: Math.round(rate),
    };
  } finally {
    await daemon.end('SIGKILL');
    endpoints.close();
    await rm(home, { recursive: true });
  }
};

interface Acknowledged {
  id: string;
  at: number;
  isGood: boolean;
}

const delaysOf = (of: {
  good: Acknowledged[];
  queuedAt: Map<string, number>;
  endpoints: Endpoints;
}) => {
  const { arrivals } = of.endpoints;
  const came = of.good.flatMap(({ id, at }) => {
    const [first] = arrivals.get(id) ?? [];
    const queued = of.queuedAt.get(id);
    if (first === undefined || queued === undefined) return [];
    return [{ delay: first - queued, whole: first - at }];
  });
  const [delays, wholes] = [came.map(({ delay }) => delay), came.map(({ whole }) => whole)];
  return {
    expected: of.good.length,
    arrived: came.length,
    twice: [...arrivals.values()].filter(({ length }) => length > 1).length,
    ...{ p50: partOf(delays, 0.5), p99: partOf(delays, 0.99), longest: partOf(delays, 1) },
    ...{ p50Whole: partOf(wholes, 0.5), p99Whole: partOf(wholes, 0.99) },
  };
};

/** What such a part of them is at most. */
export const partOf = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0;

/** Even numbers have good endpoints. */
const addUsers = async (url: string, users: number, endpoints: Endpoints): Promise<void> => {
  for (let n = 0; n < users; n++) {
    const manner = n % 2 === 0 ? 'good' : (FAILING[((n - 1) / 2) % FAILING.length] ?? 'broken');
    const owner = await register(url, `user-${n}`);
    const actionConfig = { notifyMessage: 'It came' };
    const name = `hook-${n}`;
    await addHook(owner, { name, path: name, secret: SECRET, action: 'notify', actionConfig });
    await owner.call(webhooks.create, {
      body: { name, url: endpoints.url(manner, name), events: ['hook.executed'] },
    });
  }
};

const register = async (url: string, username: string): Promise<Owner> => {
  const client = createClient({ url });
  const { token } = await client.auth.register({
    body: { username, password: 'correct horse battery' },
  });
  return client.with({ token });
};

/** Begins `notices` calls over the seconds, whether or not the earlier ones have ended. */
const pace = async (
  { notices, seconds }: Pick<Dispatch, 'notices' | 'seconds'>,
  send: (n: number) => Promise<void>,
): Promise<void> => {
  const since = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < notices) {
    const passed = (performance.now() - since) / 1000;
    const due = Math.min(notices, Math.floor((passed / seconds) * notices) + 1);
    while (sent.length < due) sent.push(send(sent.length));
    await wait(5);
  }
  await Promise.all(sent);
};

const deliver = async (url: string, path: string, n: number): Promise<string> => {
  const body = JSON.stringify({ n });
  const response = await fetch(`${url}/api/webhooks/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-delivery': `delivery-${n}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    },
    body,
  });
  const { executions } = JSON.parse(await response.text());
  if (response.status !== 202) throw new Error(`Not taken: ${response.status}`);
  return executions[0];
};
