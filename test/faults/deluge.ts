import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { quantile } from '../bench/load.js';
import { addHook, loginOwner } from '../harness/account.js';
import { PASSWORD } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';

export interface Deluge {
  /** Wrong logins in all, spread evenly over the time. */
  logins: number;
  seconds: number;
  /** As many clients behind the proxy take part, each in its turn. */
  addresses: number;
}

export interface Toll {
  /** Answers to the wrong logins, by status. */
  wrong: Record<number, number>;
  webhooks: number;
  /** Answers to webhooks other than 202. */
  refused: number;
  webhookP99Ms: number;
  /** The same before the flood. */
  calmP99Ms: number;
  ownerLogins: number;
  /** The longest that the owner took to get in, waits for another try included. */
  ownerMs: number;
}

const SECRET = 'a secret of the flood';
const WEBHOOK_EVERY_MS = 10;
const OWNER_EVERY_MS = 1000;
const CALM_MS = 1500;

/** Half of the logins are at the owner's account, half at names that nobody has. */
export const deluge = async (of: Deluge): Promise<Toll> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-flood-'));
  const daemon = await startDaemon({
    home,
    env: {
      ADJUTANT_TRUSTED_PROXIES: '127.0.0.1',
      ADJUTANT_RATE_PER_ADDRESS: '600',
      ADJUTANT_ADMIN_USERNAME: 'owner',
      ADJUTANT_ADMIN_PASSWORD: PASSWORD,
    },
  });
  try {
    const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
    const owner = await loginOwner(daemon.url);
    await addHook(owner, { name: 'flood', path: 'flood', secret: SECRET, ...action });
    return await measure(daemon.url, of);
  } finally {
    await daemon.end('SIGTERM');
    await rm(home, { recursive: true });
  }
};

const measure = async (url: string, of: Deluge): Promise<Toll> => {
  const calm = await sendUntil(url, performance.now() + CALM_MS);
  const end = performance.now() + of.seconds * 1000;
  const [wrong, webhooks, owner] = await Promise.all([
    pour(url, of),
    sendUntil(url, end),
    comeUntil(url, end),
  ]);
  return {
    wrong,
    webhooks: webhooks.length,
    refused: webhooks.filter(({ status }) => status !== 202).length,
    webhookP99Ms: p99Of(webhooks),
    calmP99Ms: p99Of(calm),
    ownerLogins: owner.length,
    ownerMs: Math.round(Math.max(...owner)),
  };
};

const p99Of = (sent: { ms: number }[]): number =>
  Math.round(quantile(sent.map(({ ms }) => ms).sort(ascending), 0.99));
const ascending = (a: number, b: number): number => a - b;

/** Each leaves at its time, whether those before it were answered or not. */
const pour = async (url: string, of: Deluge): Promise<Record<number, number>> => {
  const answers: Record<number, number> = {};
  const since = performance.now();
  const one = async (n: number): Promise<void> => {
    await wait(since + (n / of.logins) * of.seconds * 1000 - performance.now());
    const username = n % 2 === 0 ? 'owner' : `nobody${n}`;
    const address = addressOf(n % of.addresses);
    const { status } = await logIn(url, { username, password: 'wrong password', address });
    answers[status] = (answers[status] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: of.logins }, (_, n) => one(n)));
  return answers;
};

const addressOf = (n: number): string => `198.18.${n >> 8}.${n & 255}`;

const logIn = async (
  url: string,
  { username, password, address }: { username: string; password: string; address: string },
): Promise<Response> => {
  const response = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ username, password }),
  });
  await response.arrayBuffer();
  return response;
};

/** The owner, from a place of their own each time; milliseconds until they were in. */
const comeUntil = async (url: string, end: number): Promise<number[]> => {
  const times: number[] = [];
  while (performance.now() < end) {
    const since = performance.now();
    const as = { username: 'owner', password: PASSWORD, address: `203.0.113.${times.length}` };
    let response = await logIn(url, as);
    while (response.status !== 200) {
      await wait(Number(response.headers.get('retry-after')) * 1000);
      response = await logIn(url, as);
    }
    times.push(performance.now() - since);
    await wait(OWNER_EVERY_MS);
  }
  return times;
};

const sendUntil = async (url: string, end: number): Promise<{ status: number; ms: number }[]> => {
  const sent: { status: number; ms: number }[] = [];
  while (performance.now() < end) {
    const body = JSON.stringify({ n: sent.length, text: 'A page that fails. '.repeat(20) });
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const since = performance.now();
    const response = await fetch(`${url}/api/webhooks/flood`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
      body,
    });
    await response.arrayBuffer();
    sent.push({ status: response.status, ms: performance.now() - since });
    await wait(WEBHOOK_EVERY_MS);
  }
  return sent;
};
