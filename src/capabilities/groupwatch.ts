import { spawn } from 'node:child_process';
import { argv } from 'node:process';
import { systemClock } from '../kernel/clock.js';

/**
 * Runs a program in its own process group and kills the group when the parent process ends.
 * Arguments: id of the parent process, path of the program, its arguments.
 */
const [, , parent = '', path = '', ...args] = argv;
const EVERY_MS = 250;

const child = spawn(path, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exit(127);
});
child.on('exit', (code) => process.exit(code ?? 1));

systemClock.every(EVERY_MS, () => {
  if (process.ppid !== Number(parent)) process.kill(-process.pid, 'SIGKILL');
});
