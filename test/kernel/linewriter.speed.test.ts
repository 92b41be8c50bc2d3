import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { findProcess } from '../../cli/daemon/process.js';
import { until, untilMatches } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it } = lab;
const CHATTER = fileURLToPath(new URL('../harness/chatter.js', import.meta.url));

/** `script` gives the program a terminal, and stops reading that when nobody reads what it says. */
const ON_A_TERMINAL = ['script', '-qefc', `exec ${process.execPath} ${CHATTER}`, '/dev/null'];

describe('the log of a process', () => {
  const chatter = ([program = '', ...words]: string[]) =>
    spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });

  for (const [name, under] of [
    ['a pipe', [process.execPath, CHATTER]],
    ['a terminal', ON_A_TERMINAL],
  ] as const) {
    it(`holds nobody up where stderr is ${name} that is not read, and ends when told`, async () => {
      const child = chatter([...under]);
      const exit = once(child, 'exit');
      const beats = child.stdio[3];
      let said = '';
      beats?.on('data', (piece: Buffer) => {
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
      expect([(await exit)[0], lines]).to.equal([0, 20_000]);
      expect(Number(longestMs)).to.be.below(2000);
    });
  }
});
