import { PassThrough } from 'node:stream';
import { Context } from '../../cli/command.js';
import type { CommonFlags } from '../../cli/invocation.js';

/**
 * A context whose terminal gives that answer to each question of yes or no; null: there is no
 * terminal.
 */
export const terminalOf = (flags: CommonFlags, answer: string | null) => {
  const end = () => Object.assign(new PassThrough(), { isTTY: answer !== null, columns: 200 });
  const streams = { stdin: end(), stdout: end(), stderr: end() };
  streams.stdout.resume();
  let shown = '';
  streams.stderr.on('data', (piece: Buffer) => {
    shown += piece;
    if (/\[y\/N\] $/.test(String(piece))) {
      setImmediate(() => streams.stdin.write(`${answer}\n`));
    }
  });
  const context = new Context(streams, flags, {
    command: 'quickstart',
    flagOf: (path: string) => path,
  });
  return { context, shown: () => shown };
};
