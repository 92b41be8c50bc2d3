import { parseArgs } from 'node:util';
import { measureAgents } from './agents.js';
import { measureAgentsOverWire } from './agentwire.js';
import { measureLists } from './lists.js';
import { measureMillion } from './million.js';
import { type Figures, GATE, measureReceivers, ratioOf } from './receivers.js';
import { measureRuns } from './runs.js';
import { measureSlowDisk } from './slowdisk.js';
import { measureSockets } from './sockets.js';
import { measureStart } from './start.js';

const USAGE = `npm run bench -- [options]

The receiver beside bare servers in the same run, as ratios; the ratio is the gate. Load comes from
a process of its own on the same cores, which only writes bytes: so the floor is all HMAC. What an
ordinary HTTP client reaches, whose own work takes as long as the floor's, stands below.

  --receivers   measures the gate alone
  --full        also with a million deliveries in the database, and its lists
  --rounds <n>  how often each figure is taken (5)
  --help        prints this`;

const options = {
  receivers: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  rounds: { type: 'string', default: '5' },
  help: { type: 'boolean', default: false },
} as const;

/** Says what is wrong with the arguments, or what there are, and ends. */
const leave = (text: string, code: number): never => {
  console[code === 0 ? 'log' : 'error'](text);
  process.exit(code);
};

const readOptions = () => {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return leave(`${error instanceof Error ? error.message : error}\n\n${USAGE}`, 2);
  }
};

const values = readOptions();
if (values.help) leave(USAGE, 0);
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) leave('--rounds must be 1 or more', 2);

const print = (title: string, rows: Record<string, Record<string, number | string>>): void => {
  console.log(`\n${title}`);
  console.table(rows);
};

const rowsOf = (figures: Figures[]) =>
  Object.fromEntries(
    figures.map(({ name, perSecond, p50, p99, ratio, endRatio, loopUs, busiestUs, restUs }) => [
      name,
      {
        'per second': Math.round(perSecond),
        'p50 ms': p50.toFixed(2),
        'p99 ms': p99.toFixed(2),
        ratio: ratio.toFixed(2),
        'ratio to the end': endRatio === 0 ? '' : endRatio.toFixed(2),
        'loop µs': loopUs.toFixed(0),
        'busiest thread µs': busiestUs.toFixed(0),
        'other threads µs': restUs.toFixed(0),
      },
    ]),
  );

const measureRest = async (): Promise<void> => {
  const usual = await measureReceivers({ connections: 50, count: 20_000, rounds });
  print('The same from an ordinary HTTP client', rowsOf(usual));
  const one = await measureReceivers({ connections: 1, count: 1000, rounds: Math.min(rounds, 3) });
  print('Signed deliveries of 1 KiB, one connection (medians)', rowsOf(one));
  print('Queued runs to their end: a notification, a tool, an agent', await measureRuns());
  print('Start and memory', { Adjutant: await measureStart() });
  print('Agents of 20 steps, each durable, with a model that answers at once', {
    Adjutant: await measureAgents(),
  });
  print('Agents of 10 steps that ask a model over HTTP', {
    Adjutant: await measureAgentsOverWire(),
  });
  print('Frames to 500 sockets, 100 publications a second', await measureSockets());
  print('Each fsync delayed by 5 ms', { Adjutant: await measureSlowDisk() });
};

const many = await measureReceivers({ connections: 50, count: 20_000, rounds, through: 'wire' });
print('Signed deliveries of 1 KiB, 50 connections (medians)', rowsOf(many));
if (!values.receivers) await measureRest();
if (values.full) {
  print('A million deliveries in the database', rowsOf(await measureMillion(rounds)));
  print('Lists, of a million executions and 10,000 hooks', await measureLists());
}

const ratio = ratioOf(many);
const isMet = ratio >= GATE;
console.log(`\nGate: ${ratio.toFixed(2)} of the HMAC-only floor, at least ${GATE} wanted`);
console.log(isMet ? 'met' : 'MISSED');
process.exit(isMet ? 0 : 1);
