import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { addHook, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { endedOf, readLedger } from './ledger.js';
import { fill, mountTmpfs, whyNoMount } from './mount.js';
import { queueDeliveries } from './queue.js';
import { isAcknowledged } from './senders.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECRET = 'a secret of the full disk';
const noMount = whyNoMount();
const skipped = noMount === null ? '' : ` (skipped: ${noMount})`;

/** Runs a test in a home on a disk of its own, of so many megabytes. */
const onDisk = async (megabytes: number, test: (home: string) => Promise<void>): Promise<void> => {
  const scratch = await mkdtemp(join(tmpdir(), 'adjutant-disk-'));
  const home = join(scratch, 'disk');
  await mkdir(home);
  const unmount = mountTmpfs(home, megabytes);
  try {
    await test(home);
  } finally {
    unmount();
    await rm(scratch, { recursive: true });
  }
};

describe('disk', () => {
  it(
    `answers 503 while it is full, and takes deliveries again without a restart when it is not${skipped}`,
    {
      skip: noMount !== null,
    },
    () => onDisk(24, fillAndFree),
  );

  it(
    `ends no run twice and loses none where it fills up under batches${skipped}`,
    {
      skip: noMount !== null,
    },
    () => onDisk(48, fillUnderBatches),
  );
});

/** The deliveries that wait for a batch, and the room on the disk, in which not all can end. */
const WAITING = 4000;
const ROOM = 1024 * 1024;

const fillUnderBatches = async (home: string): Promise<void> => {
  await (await startDaemon({ home })).end('SIGTERM');
  queueDeliveries(home, WAITING);
  const empty = await fill(home, ROOM);
  const daemon = await startDaemon({ home });
  try {
    const ended = async () => endedOf(readLedger(home)).size;
    const health = async () => (await fetch(`${daemon.url}/health/ready`)).status;
    await until(health, (status) => status === 503);
    const before = await ended();
    expect(before).to.be.below(WAITING);
    const live = await fetch(`${daemon.url}/health/live`);
    expect(live.status).to.equal(200);
    await empty();
    await until(ended, (count) => count === WAITING);
    await until(health, (status) => status === 200);
    const { executions, jobs, notices, integrity } = readLedger(home);
    const statuses = new Set([...executions.values()].map(({ status }) => status));
    expect({ statuses: [...statuses], jobs, notices, integrity }).to.equal({
      statuses: ['success'],
      jobs: 0,
      notices: WAITING,
      integrity: 'ok',
    });
  } finally {
    await daemon.end('SIGKILL');
  }
};

const fillAndFree = async (home: string): Promise<void> => {
  const daemon = await startDaemon({ home });
  try {
    const owner = await registerOwner(daemon.url);
    const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
    await addHook(owner, { name: 'disk', path: 'disk', secret: SECRET, ...action });
    const acknowledged: string[] = [];
    const send = () => deliver(daemon.url, acknowledged);
    const ready = async () => (await fetch(`${daemon.url}/health/ready`)).status;

    expect((await send()).status).to.equal(202);
    expect(await ready()).to.equal(200);
    const empty = await fill(home);
    const full = await until(send, ({ status }) => status !== 202);
    expect(full).to.equal({ status: 503, retryAfter: '5' });
    // The few bytes of a probe may still fit.
    for (let n = 0; n < 5; n++) expect(await ready()).to.equal(503);
    expect((await fetch(`${daemon.url}/health/live`)).status).to.equal(200);

    await empty();
    await until(send, ({ status }) => status === 202);
    await until(ready, (status) => status === 200);
    await until(
      async () => readLedger(home).jobs,
      (jobs) => jobs === 0,
      20_000,
    );
    expect((await daemon.end('SIGTERM')).code).to.equal(0);
    const { executions, integrity } = readLedger(home);
    expect(integrity).to.equal('ok');
    expect(acknowledged.filter((id) => executions.get(id)?.status !== 'success')).to.equal([]);
  } finally {
    await daemon.end('SIGKILL');
  }
};

const deliver = async (url: string, acknowledged: string[]) => {
  const body = JSON.stringify({ text: 'x'.repeat(20_000) });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const response = await fetch(`${url}/api/webhooks/disk`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  const answer: unknown = await response.json();
  if (isAcknowledged(answer)) acknowledged.push(...answer.executions);
  return { status: response.status, retryAfter: response.headers.get('retry-after') };
};
