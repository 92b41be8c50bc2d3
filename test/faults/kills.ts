import { parseArgs } from 'node:util';
import { randomFrom } from './random.js';
import { slaughter } from './slaughter.js';

/** Long enough that 60 lives see the 20,000 acknowledged deliveries of G1. */
const MAX_LIFE_MS = 1_500;

/** `npm run test:faults -- --kills 60 --seed 7`: the promise in full, with its figures. */
const { values } = parseArgs({
  options: { kills: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
console.log(`${values.kills} kills, seed ${seed}`);
const toll = await slaughter({
  kills: Number(values.kills),
  longestLifeMs: MAX_LIFE_MS,
  leastAcknowledged: 300 * Number(values.kills),
  random: randomFrom(seed),
});
const { lost, stuck, changed, repeated, ...figures } = toll;
console.table({
  ...figures,
  lost: lost.length,
  stuck: stuck.length,
  changed: changed.length,
  repeated: repeated.length,
});
const wrong =
  lost.length +
  stuck.length +
  changed.length +
  repeated.length +
  toll.jobs +
  Math.abs(toll.notices);
process.exit(wrong + toll.unfinishedAgents + toll.doubledAgents > 0 ? 1 : 0);
