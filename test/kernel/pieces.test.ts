import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { requireIncrementally } from '../../src/kernel/pieces.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

/** Tells this process that it runs. */
const told = (name: string): string => `process.emit('piece', '${name}');\n`;

describe('a library in pieces', () => {
  let folder: string;
  let ran: string[];
  let turns: NodeJS.Immediate;
  const tell = (name: string) => void ran.push(name);
  const countTurns = (): void => {
    ran.push('turn');
    turns = setImmediate(countTurns);
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-pieces-'));
    ran = [];
    process.on('piece', tell);
    await writeFile(join(folder, 'a.cjs'), told('a'));
    await writeFile(join(folder, 'b.cjs'), told('b'));
    await writeFile(
      join(folder, 'library.cjs'),
      `require('./a.cjs'); require('./b.cjs'); ${told('library')} exports.answer = 42;`,
    );
  });
  afterEach(async () => {
    clearImmediate(turns);
    process.off('piece', tell);
    await rm(folder, { recursive: true });
  });

  const open = (pieces: string[]) => {
    const library = pathToFileURL(join(folder, 'library.cjs')).href;
    return requireIncrementally<{ answer: number }>({
      library,
      pieces,
      load: () => import(library),
    });
  };

  it('runs each of them in a turn of its own, and once', async () => {
    const load = open(['./a.cjs', './b.cjs']);
    countTurns();
    const [one, other] = await Promise.all([load(), load()]);
    expect([one.answer, other]).to.equal([42, one]);
    const steps = ran.join(' ').replace(/turn( turn)*/g, 'turn');
    expect(steps).to.match(/^turn a turn b turn library( turn)?$/);
  });

  it('loads without those that its version does not have', async () => {
    expect((await open(['./gone.cjs', './b.cjs', 'no-such-package'])()).answer).to.equal(42);
    expect(ran).to.equal(['b', 'a', 'library']);
  });
});
