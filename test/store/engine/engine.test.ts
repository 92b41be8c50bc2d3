import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { migrations } from '../../../migrations/all.js';
import { Engine, startThread } from '../../../src/store/engine/engine.js';
import { OpenRefused, Unavailable } from '../../../src/store/engine/protocol.js';
import { openThreads } from '../../../src/store/threads.js';
import { openScratch, putFact } from '../scratch.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The thread has loaded, was refused, and is gone by then. */
const BUSY_MS = 1500;

const THREAD = new URL('../../../src/store/thread/thread.js', import.meta.url);

describe('engine', () => {
  it('says why it cannot open, to an event loop that was busy until the thread had ended', async () => {
    const { home, store, remove } = await openScratch();
    const options = { role: 'writer' as const, home, migrations: [], auditKey: new Uint8Array(32) };
    const events = { lost: () => undefined, audited: () => undefined };
    // The scratch holds the lock of its home.
    const refused = startThread(options)
      .open(events)
      .catch((error) => error);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
    expect(await refused).to.be.instanceOf(OpenRefused);
    await store.close();
    await remove();
  });

  it('opens nothing before it is asked to', async () => {
    const home = await mkdtemp(join(tmpdir(), 'adjutant-engine-'));
    const options = { home, migrations, auditKey: new Uint8Array(32) };
    const events = { lost: () => undefined, audited: () => undefined };
    const early = startThread({ ...options, role: 'writer' });
    const { writer, reader } = await openThreads(options, events);
    await expect(early.open(events)).to.reject(OpenRefused, /^Another Adjutant already uses/);
    await reader.close();
    await writer.close();
    await rm(home, { recursive: true });
  });

  it('fails all who wait when the thread ends by itself, and says so once', async () => {
    const { home, remove } = await openScratch();
    const worker = new Worker(THREAD, {
      workerData: { role: 'reader', home, migrations: [], auditKey: new Uint8Array(32) },
    });
    worker.postMessage({ kind: 'open' });
    const [{ opened }] = await once(worker, 'message');
    const lost: Error[] = [];
    const engine = new Engine(worker, opened, {
      lost: (error) => lost.push(error),
      audited: () => undefined,
    });
    const results = Promise.allSettled([
      engine.perform({ statements: [putFact('a', '1')] }),
      engine.perform({ statements: [putFact('b', '1')] }),
    ]);
    await worker.terminate();
    const reasons = (await results).map((result) => result.status === 'rejected' && result.reason);
    expect(reasons.map((reason) => reason instanceof Unavailable)).to.equal([true, true]);
    await expect(engine.perform({ statements: [] })).to.reject(Unavailable);
    expect(lost.length).to.equal(1);
    await engine.close();
    await remove();
  });
});
