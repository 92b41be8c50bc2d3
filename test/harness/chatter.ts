import { writeSync } from 'node:fs';
import { createLog } from '../../src/kernel/log.js';

/**
 * Logs 20 MB to stderr, one turn of the event loop at a time. Reports the longest turn in
 * milliseconds, and its process id, on descriptor 3.
 */
const LINES = 20_000;
const PER_TURN = 500;
const log = createLog('info');
const text = 'x'.repeat(1000);

let lines = 0;
let longestMs = 0;
let last = performance.now();
const turn = (): void => {
  longestMs = Math.max(longestMs, performance.now() - last);
  last = performance.now();
  for (let nth = 0; nth < PER_TURN; nth++) log.info({ text }, 'chatter');
  lines += PER_TURN;
  if (lines < LINES) return void setImmediate(turn);
  writeSync(3, JSON.stringify({ pid: process.pid, lines, longestMs }));
  process.exit(0);
};
setImmediate(turn);
