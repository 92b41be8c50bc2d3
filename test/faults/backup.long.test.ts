import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { restoreFile, verifyFile } from '../../src/backup.js';
import type { BackupView } from '../../src/client/index.js';
import { addHook, loginOwner, type Owner, registerOwner } from '../harness/account.js';
import { until, untilAtLeast } from '../harness/app.js';
import { type Daemon, startDaemon, startRefused } from '../harness/daemon.js';
import { readLedger } from './ledger.js';
import { mountTmpfs, whyNoMount } from './mount.js';
import { startSenders } from './senders.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const EXECUTABLE = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
const SECRET = 'a secret of the backup';
const PASSPHRASE = 'a passphrase for keys';
const noMount = whyNoMount();
const skipped = noMount === null ? '' : ` (skipped: ${noMount})`;

describe('a backup', () => {
  let scratch: string;
  let home: string;
  let folder: string;
  let daemon: Daemon;
  let owner: Owner;

  beforeEach(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'adjutant-backup-'));
    home = join(scratch, 'home');
    folder = join(scratch, 'backups');
    daemon = await startDaemon({ home });
    owner = await registerOwner(daemon.url);
  });
  afterEach(async () => {
    await daemon.end('SIGKILL');
    await rm(scratch, { recursive: true, force: true });
  });

  const create = (to = folder) =>
    owner.backups.create({ body: { passphrase: PASSPHRASE, folder: to } });
  const ended = ({ id }: BackupView) =>
    until(
      () => owner.backups.get({ id, query: { wait: 10 } }),
      ({ status }) => status !== 'running',
      40_000,
    );

  it('under load holds every delivery that was acknowledged before it began', async () => {
    const action = { action: 'notify', actionConfig: { notifyMessage: 'x' } } as const;
    await addHook(owner, { name: 'h', path: 'h', secret: SECRET, ...action });
    const load = { paths: ['h'], secret: SECRET, connections: 8 };
    const senders = startSenders({ url: () => daemon.url, ...load });
    await until(
      async () => senders.acknowledged.length,
      (count) => count > 200,
      20_000,
    );
    const before = senders.acknowledged.map(({ deliveryId }) => deliveryId);
    // Code that would run as it is, on whatever machine.
    await mkdir(join(home, 'cache'), { recursive: true });
    await writeFile(join(home, 'cache/app.v8'), 'code');
    const backup = await ended(await create());
    const during = senders.acknowledged.length - before.length;
    await senders.stop();
    expect([backup.status, backup.error]).to.equal(['done', null]);
    expect([during > 0, [...senders.refused], senders.reset]).to.equal([true, [], 0]);

    const file = { file: backup.file, passphrase: PASSPHRASE };
    const proved = await verifyFile(file, () => undefined).done;
    expect(proved.newestDelivery).to.equal(backup.made?.newestDelivery ?? null);
    const elsewhere = join(scratch, 'elsewhere');
    await restoreFile({ home: elsewhere, ...file }, () => undefined).done;
    expect(existsSync(join(elsewhere, 'cache'))).to.be.false();
    const ids = deliveriesIn(elsewhere);
    expect(before.filter((id) => !ids.has(id))).to.equal([]);
    const { jobs, integrity } = readLedger(elsewhere);
    expect([jobs, integrity]).to.equal([0, 'ok']);

    await serves(elsewhere);
  });

  it('that is killed leaves no file under its name, and the next start sweeps', async () => {
    await grow(owner, daemon, 40);
    const { id, file } = await create();
    await until(async () => existsSync(`${file}.part.db`), Boolean);
    await daemon.end('SIGKILL');
    const left = await readdir(folder);
    expect([existsSync(file), left.length > 0]).to.equal([false, true]);
    daemon = await startDaemon({ home });
    owner = await loginOwner(daemon.url);
    expect((await owner.backups.get({ id })).status).to.equal('interrupted');
    expect(await readdir(folder)).to.equal([]);
    expect((await ended(await create())).status).to.equal('done');
  });

  it(`on a disk that fills up leaves nothing there, and the daemon serves${skipped}`, {
    skip: noMount !== null,
  }, async () => {
    await mkdir(folder);
    const unmount = mountTmpfs(folder, 12);
    try {
      await grow(owner, daemon, 8);
      const { status, error } = await ended(await create());
      expect([status, /full|space/.test(error ?? '')], error ?? '').to.equal(['failed', true]);
      expect(await readdir(folder)).to.equal([]);
      expect((await fetch(`${daemon.url}/health/ready`)).status).to.equal(200);
    } finally {
      unmount();
    }
  });

  it('whose restore is killed half way is never begun with', async () => {
    await grow(owner, daemon, 40);
    const { file } = await ended(await create());
    const elsewhere = join(scratch, 'elsewhere');
    const words = ['--home', elsewhere, 'backup', 'restore', file, '--passphrase-file', '-'];
    const child = spawn(process.execPath, [EXECUTABLE, ...words], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin?.end(PASSPHRASE);
    const isHalf = async () => existsSync(join(elsewhere, 'restoring'));
    await until(isHalf, Boolean);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(join(elsewhere, 'adjutant.db'))).to.be.false();
    const { code, stderr } = await startRefused({ home: elsewhere });
    expect([code, stderr.includes('was interrupted')]).to.equal([1, true]);
  });

  it(`that does not fit where it is restored leaves that empty${skipped}`, {
    skip: noMount !== null,
  }, async () => {
    await grow(owner, daemon, 8);
    const { file } = await ended(await create());
    const elsewhere = join(scratch, 'elsewhere');
    await mkdir(elsewhere);
    const unmount = mountTmpfs(elsewhere, 4);
    try {
      const { done } = restoreFile(
        { home: elsewhere, file, passphrase: PASSPHRASE },
        () => undefined,
      );
      await expect(done).to.reject(/ENOSPC|full/);
      expect(await readdir(elsewhere)).to.equal([]);
    } finally {
      unmount();
    }
  });

  it('goes on while deliveries are acknowledged as fast as before', async () => {
    await grow(owner, daemon, 30);
    const load = { paths: ['grow'], secret: SECRET, connections: 2 };
    const senders = startSenders({ url: () => daemon.url, ...load });
    const begun = await create();
    let longest = 0;
    let last = performance.now();
    let seen = 0;
    const look = setInterval(() => {
      if (senders.acknowledged.length === seen) return;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      seen = senders.acknowledged.length;
    }, 5);
    const { status } = await ended(begun);
    clearInterval(look);
    await senders.stop();
    expect([status, longest < 2000]).to.equal(['done', true]);
  });
});

/** Its audit log is unbroken, and its vault opens: the hook's secret still verifies. */
const serves = async (home: string): Promise<void> => {
  const daemon = await startDaemon({ home });
  try {
    const { ok, problem } = await (await loginOwner(daemon.url)).audit.verify();
    expect([ok, problem]).to.equal([true, null]);
    const load = { paths: ['h'], secret: SECRET, connections: 1 };
    const senders = startSenders({ url: () => daemon.url, ...load });
    await untilAtLeast(async () => senders.acknowledged.length, 1);
    await senders.stop();
  } finally {
    await daemon.end('SIGTERM');
  }
};

const deliveriesIn = (home: string): Set<string> => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  const ids = db.prepare<[], string>('SELECT id FROM deliveries').pluck().all();
  db.close();
  return new Set(ids);
};

/** So many megabytes of payloads on a hook that is off: they are kept, and nothing runs. */
const grow = async (owner: Owner, { url }: Daemon, megabytes: number): Promise<void> => {
  const action = { action: 'notify', actionConfig: { notifyMessage: 'x' } } as const;
  await addHook(owner, { name: 'grow', path: 'grow', secret: SECRET, ...action });
  for (let n = 0; n < megabytes; n++) {
    const body = JSON.stringify({ n, text: 'x'.repeat(1_000_000) });
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const response = await fetch(`${url}/api/webhooks/grow`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
      body,
    });
    if (response.status !== 202) throw new Error(`Not taken: ${response.status}`);
    await response.arrayBuffer();
  }
};
