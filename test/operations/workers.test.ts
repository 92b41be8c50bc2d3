import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { endOfOperation, type OperationEndDeps } from '../../src/operations/runs.js';
import {
  openWorkers,
  WorkerFailed,
  WorkerSilent,
  workersAtOnce,
} from '../../src/operations/workers.js';
import { findConfinement } from '../../src/providers/confine/find.js';
import type { CoreSources } from '../../src/providers/hardware/cores.js';
import type { OperationRow } from '../../src/store/tables/operations.js';
import { frozenClock } from '../harness/clock.js';

const confinement = await findConfinement({ allowUnconfined: false });
const confined = { skip: !confinement };

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** Ends, while a process that it has started, and names, holds its output. */
const HELD = `
import { spawn } from 'node:child_process';
const holder = spawn('sleep', ['600'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
holder.unref();
process.stdout.write(holder.pid + '\\n', () => process.exit(3));
`;
/** Writes a line that a library of it might write. */
const TALKATIVE = "process.stdout.write('==== 1 1\\n1\\n'); setInterval(() => undefined, 1000);";

/** A Linux of 16 processors, of which the quota of its control group is given. */
const quotaOf = (quota: string): CoreSources => ({
  platform: 'linux',
  parallelism: () => 16,
  readText: (path) =>
    ({
      '/sys/fs/cgroup/cgroup.controllers': 'cpu memory',
      '/proc/self/cgroup': '0::/\n',
      '/sys/fs/cgroup/cpu.max': `${quota}\n`,
    })[path] ?? null,
});

describe('the number of worker processes', () => {
  it('leaves one of the processors that a quota allows, unless it is set', () => {
    expect(workersAtOnce(0, quotaOf('max 100000'))).to.equal(15);
    expect(workersAtOnce(0, quotaOf('450000 100000'))).to.equal(3);
    expect(workersAtOnce(0, quotaOf('50000 100000'))).to.equal(1);
    expect(workersAtOnce(5, quotaOf('450000 100000'))).to.equal(5);
  });
});

describe('the reason of a failure', () => {
  it('has a limited length, whatever a process writes', () => {
    const long = 'x'.repeat(1_000_000);
    const deps = {
      clock: frozenClock(),
      operations: { end: () => [] },
      kinds: new Map(),
      progress: { of: () => null },
    } as unknown as OperationEndDeps;
    const ended = endOfOperation(deps, {} as OperationRow, { status: 'failed', error: long });
    expect([new WorkerFailed(long).message.length, ended.row.error?.length]).to.equal([1000, 4000]);
  });
});

describe('worker processes', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-workers-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Returns the function that runs a script as a worker. */
  const runOf = async (
    name: string,
    script: string,
    take: (line: number) => void,
    silenceMs = 60_000,
  ) => {
    // A worker may read the built code and its package.
    await mkdir(join(folder, 'dist'), { recursive: true });
    await writeFile(join(folder, 'package.json'), '{}');
    const file = join(folder, 'dist', name);
    await writeFile(file, script);
    const workers = openWorkers({ folder: join(folder, 'scratch'), confinement: null, atOnce: 1 });
    return () =>
      workers.run<number>({
        userId: 'ada',
        script: pathToFileURL(file),
        input: null,
        readable: [],
        packages: [],
        silenceMs,
        signal: new AbortController().signal,
        take: async (line) => {
          take(line);
          return false;
        },
      });
  };

  it('are ended where they are silent for too long', async () => {
    const script = 'setInterval(() => undefined, 60_000)';
    const run = await runOf('silent.mjs', script, () => undefined, 1);
    await expect(run()).to.reject(WorkerSilent, 'it sent no output in time');
  });

  it('fail where they write a line that is no JSON', async () => {
    const run = await runOf('talkative.mjs', TALKATIVE, () => undefined);
    const error = await run().catch((failure) => failure);
    expect(error).to.be.an.instanceof(WorkerFailed);
    expect(error.message).to.equal('a line of the output is not valid JSON');
  });

  it('give their place free when they end, though others hold their output', async () => {
    const taken: number[] = [];
    const scratch = join(folder, 'scratch');
    const run = await runOf('held.mjs', HELD, (line) => taken.push(line));
    const first = await run().catch((error) => error);
    expect(first).to.be.an.instanceof(WorkerFailed);
    expect(first.message).to.contain('it ended with code 3');
    await expect(run()).to.reject(WorkerFailed);
    expect(taken.length).to.equal(2);
    // They hold the output still: ending one that has ended would throw.
    for (const pid of taken) process.kill(pid, 'SIGKILL');
    expect(await readdir(scratch)).to.equal([]);
  });

  it('reach their packages where pnpm has installed them', confined, async () => {
    const store = join(folder, 'app', 'node_modules', '.pnpm');
    const one = join(store, 'one@1.0.0', 'node_modules', 'one');
    const beside = join(store, 'adjutant@1.0.0', 'node_modules');
    const dist = join(beside, 'adjutant', 'dist');
    await mkdir(one, { recursive: true });
    await writeFile(join(one, 'package.json'), '{"name":"one","type":"module","main":"one.js"}');
    await writeFile(join(one, 'one.js'), 'export const one = 1;');
    await mkdir(dist, { recursive: true });
    await symlink(one, join(beside, 'one'));
    await writeFile(join(beside, 'adjutant', 'package.json'), '{}');
    const file = join(dist, 'count.mjs');
    await writeFile(file, "import { one } from 'one'; console.log(one);");
    const workers = openWorkers({ folder: join(folder, 'scratch'), confinement, atOnce: 1 });
    const taken: number[] = [];
    await workers.run<number>({
      userId: 'ada',
      script: pathToFileURL(file),
      input: null,
      readable: [],
      packages: ['one'],
      silenceMs: 60_000,
      signal: new AbortController().signal,
      take: async (line) => {
        taken.push(line);
        return true;
      },
    });
    expect(taken).to.equal([1]);
  });
});
