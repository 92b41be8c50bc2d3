import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openWorkers, WorkerFailed } from '../../src/operations/workers.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Ends, while a process that it has started holds its output. */
const HELD = `
import { spawn } from 'node:child_process';
spawn('sleep', ['8'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).unref();
process.stdout.write('1\\n', () => process.exit(3));
`;

describe('worker processes', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-workers-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('give their place free when they end, though others hold their output', async () => {
    // A worker may read the built code and its package.
    await mkdir(join(folder, 'dist'));
    await writeFile(join(folder, 'package.json'), '{}');
    const file = join(folder, 'dist', 'held.mjs');
    await writeFile(file, HELD);
    const scratch = join(folder, 'scratch');
    const workers = openWorkers({ folder: scratch, confinement: null, atOnce: 1 });
    const taken: number[] = [];
    const run = () =>
      workers.run<number>({
        userId: 'ada',
        script: pathToFileURL(file),
        input: null,
        readable: [],
        packages: [],
        silenceMs: 60_000,
        signal: new AbortController().signal,
        take: async (line) => {
          taken.push(line);
          return false;
        },
      });
    const since = performance.now();
    const first = await run().catch((error) => error);
    expect(first).to.be.an.instanceof(WorkerFailed);
    expect(first.message).to.contain('it ended with code 3');
    await expect(run()).to.reject(WorkerFailed);
    expect(performance.now() - since).to.be.below(7000);
    expect(taken).to.equal([1, 1]);
    expect(await readdir(scratch)).to.equal([]);
  });
});
