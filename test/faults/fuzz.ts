import { parseArgs } from 'node:util';
import { watchLoop } from '../generated/block.js';
import { fuzz } from '../generated/fuzzer.js';
import { startApp } from '../harness/app.js';

/**
 * Odd requests in the number that is promised: `node dist/test/faults/fuzz.js --requests 100000`.
 * Exit 1 where one got a 5xx, no answer, or the event loop stood still for over 100 ms.
 */
const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});

const LONGEST_BLOCK_MS = 100;

const run = async (): Promise<boolean> => {
  const app = await startApp();
  try {
    const tokens = [(await app.register('ada')).token, (await app.register('bob')).token];
    const loop = watchLoop();
    const since = performance.now();
    const count = Number(values.requests);
    const report = await fuzz({ url: app.url, tokens, count, seed: Number(values.seed) });
    const seconds = (performance.now() - since) / 1000;
    const block = loop.stop();
    console.log(`${count} requests in ${seconds.toFixed(1)} s`);
    console.log(`statuses ${JSON.stringify(report.statuses)}`);
    console.log(`longest block of the event loop ${block.toFixed(0)} ms`);
    for (const failure of report.failures.slice(0, 20)) console.log(`failed ${failure}`);
    return report.failures.length === 0 && block <= LONGEST_BLOCK_MS;
  } finally {
    await app.stop();
  }
};

process.exitCode = (await run()) ? 0 : 1;
