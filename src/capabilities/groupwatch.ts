import { spawn } from 'node:child_process';
import { argv } from 'node:process';

/**
 * Runs a program, and ends it with all that it has started once the process that wanted it has ended.
 * The arguments are the id of that process, the path of the program, and its arguments. It leads a
 * process group of its own.
 */
const [, , parent = '', path = '', ...args] = argv;
const EVERY_MS = 250;

const child = spawn(path, args, { stdio: ['ignore', 'inherit', 'inherit'] });
child.on('error', ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exit(127);
});
child.on('exit', (code) => process.exit(code ?? 1));

setInterval(() => {
  if (process.ppid !== Number(parent)) process.kill(-process.pid, 'SIGKILL');
}, EVERY_MS);
