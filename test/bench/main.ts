import { parseArgs } from 'node:util';
import { measureAgents } from './agents.js';
import { measureMillion } from './million.js';
import { type Figures, GATE, measureReceivers, ratioOf } from './receivers.js';
import { measureSlowDisk } from './slowdisk.js';
import { measureStart } from './start.js';

/**
 * `npm run bench`: the receiver beside bare servers in the same run, as ratios; the ratio is the
 * gate. Load comes from an ordinary HTTP client in a process of its own, on the same cores. `--full` also measures with a million deliveries in the database; `--rounds` sets how often
 * each figure is taken.
 */
const { values } = parseArgs({
  options: { full: { type: 'boolean', default: false }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);

const print = (title: string, rows: Record<string, Record<string, number | string>>): void => {
  console.log(`\n${title}`);
  console.table(rows);
};

const rowsOf = (figures: Figures[]) =>
  Object.fromEntries(
    figures.map(({ name, perSecond, p50, p99, ratio, cpuUs }) => [
      name,
      {
        'per second': Math.round(perSecond),
        'p50 ms': p50.toFixed(2),
        'p99 ms': p99.toFixed(2),
        ratio: ratio.toFixed(2),
        'cpu µs each': cpuUs.toFixed(0),
      },
    ]),
  );

const many = await measureReceivers({ connections: 50, count: 20_000, rounds });
print('Signed deliveries of 1 KiB, 50 connections (medians)', rowsOf(many));
const raw = await measureReceivers({ connections: 50, count: 20_000, rounds, through: 'wire' });
print('The same from a generator that only writes bytes: the floor is all HMAC', rowsOf(raw));
const one = await measureReceivers({ connections: 1, count: 1000, rounds: Math.min(rounds, 3) });
print('Signed deliveries of 1 KiB, one connection (medians)', rowsOf(one));
print('Start and memory', { Adjutant: await measureStart() });
print('Agents of 20 steps, each durable, with a model that answers at once', {
  Adjutant: await measureAgents(),
});
print('Each fsync delayed by 5 ms', { Adjutant: await measureSlowDisk() });
if (values.full)
  print('A million deliveries in the database', rowsOf(await measureMillion(rounds)));

const ratio = ratioOf(many);
const isMet = ratio >= GATE;
console.log(`\nGate: ${ratio.toFixed(2)} of the HMAC-only floor, at least ${GATE} wanted`);
console.log(isMet ? 'met' : 'MISSED');
process.exit(isMet ? 0 : 1);
