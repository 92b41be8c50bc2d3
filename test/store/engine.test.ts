import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Engine } from '../../src/store/engine.js';
import { Unavailable } from '../../src/store/protocol.js';
import { openScratch, putFact } from './scratch.js';

export const lab = Lab.script();
const { describe, it } = lab;

const THREAD = new URL('../../src/store/thread.js', import.meta.url);

describe('engine', () => {
  it('fails all who wait when the thread ends by itself, and says so once', async () => {
    const { home, remove } = await openScratch();
    const worker = new Worker(THREAD, {
      workerData: { role: 'reader', home, migrations: [], auditKey: new Uint8Array(32) },
    });
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
