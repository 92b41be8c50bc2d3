import { firsts, measureFirst } from '../generated/firsts.js';

/**
 * The longest turn of the event loop at each first request, which loads what answers it (G16):
 * `node dist/test/faults/firsts.js`. Exit 1 where one took over 50 ms.
 */
const MAX_TURN_MS = 50;

for (const name of Object.keys(firsts)) {
  const { turnMs, gcMs } = await measureFirst(name);
  console.log(`${name} ${turnMs.toFixed(0)} ms, garbage collection ${gcMs.toFixed(0)} ms`);
  if (turnMs > MAX_TURN_MS) process.exitCode = 1;
}
