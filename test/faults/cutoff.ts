import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '../../src/client/client.js';
import { webhooks } from '../../src/outbound/webhooks/contract.js';
import { addHook, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { openTarget } from '../harness/target.js';
import {
  arrived,
  deliver,
  linkChats,
  type MessagesLedger,
  readMessages,
  SECRET,
  setTelegram,
} from './chats.js';
import { openEndpoints } from './endpoints.js';

export interface Cutoff {
  kills: number;
  /** The daemon is killed at a random moment within this. */
  longestLifeMs: number;
  users: number;
  /** Deliveries a second. */
  rate: number;
  random(): number;
}

export interface CutoffToll extends MessagesLedger {
  acknowledged: number;
  /** Messages that came to a chat more than once, where a repeat is not known by its id. */
  twice: string[];
  /** Executions whose event never came to its endpoint. */
  missing: string[];
  /** Events that came more than once, each under one id. */
  repeated: number;
}

/**
 * Kills the daemon at random while each delivery becomes a message to a chat and one to an
 * endpoint, then lets it finish and counts what came where.
 */
export const cutOff = async (given: Cutoff): Promise<CutoffToll> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-cutoff-'));
  const telegram = await openTarget();
  telegram.answer = (response, nth) => void setTimeout(() => arrived(response, nth), 20);
  const endpoints = await openEndpoints((body) => JSON.parse(body).data.executionId);
  const env = { ADJUTANT_EGRESS_ALLOW: [telegram.address, ...endpoints.addresses].join() };
  let daemon = await startDaemon({ home, env });
  const restart = async (signal: NodeJS.Signals): Promise<void> => {
    await daemon.end(signal);
    if (signal === 'SIGTERM') linkChats(home);
    daemon = await startDaemon({ home, env });
  };
  try {
    await setTelegram(await registerOwner(daemon.url), telegram);
    for (let n = 0; n < given.users; n++) {
      await addUser(daemon.url, n, endpoints.url('good', `user-${n}`));
    }
    await restart('SIGTERM');
    const load = startLoad({ ...given, url: () => daemon.url });
    for (let kill = 0; kill < given.kills; kill++) {
      await wait(given.random() * given.longestLifeMs);
      await restart('SIGKILL');
    }
    const acknowledged = await load.stop();
    const ledger = await finished(home);
    const texts = telegram.received.map(({ body }) => JSON.parse(body).text);
    return {
      ...ledger,
      acknowledged: acknowledged.length,
      twice: repeatsIn(texts),
      missing: acknowledged.filter((id) => !endpoints.arrivals.has(id)),
      repeated: [...endpoints.arrivals.values()].filter(({ length }) => length > 1).length,
    };
  } finally {
    await daemon.end('SIGKILL');
    telegram.close();
    endpoints.close();
    await rm(home, { recursive: true });
  }
};

const repeatsIn = (texts: string[]): string[] => {
  const seen = new Set<string>();
  return texts.filter((text) => seen.size === seen.add(text).size);
};

const addUser = async (url: string, n: number, endpoint: string): Promise<void> => {
  const client = createClient({ url });
  const body = { username: `user-${n}`, password: 'correct horse battery' };
  const { token } = await client.auth.register({ body });
  const user = client.with({ token });
  const actionConfig = { notifyMessage: 'Number {{webhook.body.n}}', notifyOwner: true };
  const name = `user-${n}`;
  await addHook(user, { name, path: name, secret: SECRET, action: 'notify', actionConfig });
  await user.call(webhooks.create, { body: { name, url: endpoint, events: ['hook.executed'] } });
};

/** Deliveries at an even pace, whether or not the daemon is there to take them. */
const startLoad = ({ users, rate, url }: Cutoff & { url(): string }) => {
  const acknowledged: string[] = [];
  let n = 0;
  const send = async (): Promise<void> => {
    const number = n++;
    const id = await deliver(url(), `user-${number % users}`, { n: number }).catch(() => null);
    if (id !== null) acknowledged.push(id);
  };
  const timer = setInterval(() => void send(), 1000 / rate);
  return {
    stop: async (): Promise<string[]> => {
      clearInterval(timer);
      await wait(500);
      return acknowledged;
    },
  };
};

/** Waits until nothing is to be sent any more; as it is then, if that takes too long. */
const finished = async (home: string): Promise<MessagesLedger> => {
  const read = async () => readMessages(home);
  return until(read, ({ jobs }) => jobs === 0, 120_000).catch(read);
};
