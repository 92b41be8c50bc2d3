import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { watchLoop } from '../generated/block.js';
import type { FuzzOptions, FuzzReport } from '../generated/fuzzer.js';
import { startApp } from '../harness/app.js';

/**
 * Odd requests in the number that is promised: `node dist/test/faults/fuzz.js --requests 100000`.
 * Exit 1 where one got a 5xx, no answer, or a turn of the event loop took over 50 ms.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});

/** G16. */
const MAX_TURN_MS = 50;

/** In a thread of its own, so that what making the requests takes is in no turn of the daemon. */
const fuzz = async (workerData: FuzzOptions): Promise<FuzzReport> => {
  const worker = new Worker(new URL('../generated/fuzzthread.js', import.meta.url), { workerData });
  const [report] = await once(worker, 'message');
  return report;
};

const run = async (): Promise<boolean> => {
  // The checks of replies are the tests' own, and would be measured with it.
  const app = await startApp({ checkedReplies: 0 });
  try {
    const tokens = [(await app.register('ada')).token, (await app.register('bob')).token];
    const loop = watchLoop();
    const since = performance.now();
    const count = Number(values.requests);
    const report = await fuzz({ url: app.url, tokens, count, seed: Number(values.seed) });
    const seconds = (performance.now() - since) / 1000;
    const { turnMs, gcMs } = loop.stop();
    console.log(`${count} requests in ${seconds.toFixed(1)} s`);
    console.log(`statuses ${JSON.stringify(report.statuses)}`);
    console.log(`longest turn of the event loop ${turnMs.toFixed(0)} ms`);
    console.log(`longest garbage collection ${gcMs.toFixed(0)} ms`);
    for (const failure of report.failures.slice(0, 20)) console.log(`failed ${failure}`);
    return report.failures.length === 0 && turnMs <= MAX_TURN_MS;
  } finally {
    await app.stop();
  }
};

process.exitCode = (await run()) ? 0 : 1;
