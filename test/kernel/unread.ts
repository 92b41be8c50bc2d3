import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { findProcess } from '../../cli/daemon/process.js';
import { until, untilMatches } from '../harness/app.js';

const CHATTER = fileURLToPath(new URL('../harness/chatter.js', import.meta.url));

/** Commands of a program that logs much, each with what its stderr is. */
export const UNREAD: [name: string, command: string[]][] = [
  ['a pipe', [process.execPath, CHATTER]],
  // `script` gives the program a terminal, and stops reading that when nobody reads what it says.
  ['a terminal', ['script', '-qefc', `exec ${process.execPath} ${CHATTER}`, '/dev/null']],
];

/** Reads stderr only after the program has ended. Resolves to its exit code and its own report. */
export const runChatter = async ([program = '', ...words]: string[]) => {
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const exit = once(child, 'exit');
  let said = '';
  child.stdio[3]?.on('data', (piece: Buffer) => {
    said += piece;
  });
  await until(
    async () => said,
    (text) => text.endsWith('}'),
  );
  const { pid, lines, longestMs } = JSON.parse(said);
  // With everything that it could not say: nobody has read a byte.
  await untilMatches(async () => findProcess(pid), null);
  for (const stream of [child.stdout, child.stderr]) stream?.resume();
  return { code: (await exit)[0], lines, longestMs };
};
