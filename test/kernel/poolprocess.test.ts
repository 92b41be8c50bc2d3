import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PoolFull, TaskLimitExceeded, ThreadTerminated } from '../../src/kernel/pool.js';
import { openPoolProcess, type PoolProcess } from '../../src/kernel/poolprocess.js';
import { type FrozenClock, frozenClock, until } from '../harness/app.js';

export const lab = Lab.script();
const { afterEach, after, before, describe, it } = lab;

const SERVER = new URL('../../src/kernel/poolserver.js', import.meta.url).href;
/** A process with one pool, whose errors are those that their names say. */
const SCRIPT = `
  import { servePools } from '${SERVER}';
  const fail = (name) => { throw Object.assign(new Error('it failed'), { name }); };
  const tasks = {
    echo: (input) => ({ input, pid: process.pid, secret: process.env.SECRET_OF_TEST }),
    fail,
    die: () => process.exit(3),
    hang: () => new Promise(() => {}),
  };
  servePools({ one: { run: async (asker, task, input) => tasks[task](input) } });
`;

const IDLE_MS = 60_000;

interface Tasks {
  [name: string]: (input: never) => unknown;
  echo(input: unknown): { input: unknown; pid: number; secret?: string };
  fail(input: string): never;
  die(input: null): never;
  hang(input: null): never;
}

/** A process that is loaded once the daemon has ended, and then would live for ever. */
const LATE = `
  import { once } from 'node:events';
  const { servePools } = await import('${SERVER}');
  if (process.connected) await once(process, 'disconnect');
  setInterval(() => {}, 60_000);
  servePools({});
`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const isGone = (pid: number) =>
  until(
    async () => isAlive(pid),
    (alive) => !alive,
  );

describe('a process of pools', () => {
  let folder: string;
  let pools: PoolProcess;
  let clock: FrozenClock;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-pools-'));
    await writeFile(join(folder, 'main.mjs'), SCRIPT);
    await writeFile(join(folder, 'late.mjs'), LATE);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => pools.close());

  const open = () => {
    clock = frozenClock();
    const script = pathToFileURL(join(folder, 'main.mjs'));
    pools = openPoolProcess({ script, idleMs: IDLE_MS, clock });
    return pools.pool<Tasks>('one');
  };

  it('ends if the daemon has ended before it was loaded', async () => {
    open();
    const child = fork(join(folder, 'late.mjs'), [], { stdio: 'ignore' });
    child.disconnect();
    await isGone(child.pid ?? 0);
  });

  it('runs tasks in a process of its own, which has no setting of the daemon', async () => {
    process.env.SECRET_OF_TEST = 'secret';
    const { run } = open();
    const input = { bytes: new Uint8Array([1, 2]), text: 'ä'.repeat(100_000), none: undefined };
    const [first, second] = [await run('ada', 'echo', input), await run('bob', 'echo', 2)];
    delete process.env.SECRET_OF_TEST;
    expect(first).to.equal({ input, pid: first.pid, secret: undefined });
    expect([second.input, second.pid]).to.equal([2, first.pid]);
    expect(first.pid).to.not.equal(process.pid);
  });

  it('keeps the errors of pools', async () => {
    const { run } = open();
    await expect(run('ada', 'fail', 'PoolFull')).to.reject(PoolFull);
    await expect(run('ada', 'fail', 'TaskLimitExceeded')).to.reject(TaskLimitExceeded, 'it failed');
    await expect(run('ada', 'fail', 'Error')).to.reject(Error, 'it failed');
    await expect(pools.pool<Tasks>('two').run('ada', 'echo', 1)).to.reject('Unknown pool: two');
  });

  it('fails what is underway where it ends, and starts anew', async () => {
    const { run } = open();
    const hanging = run('ada', 'hang', null);
    const dying = run('ada', 'die', null);
    await expect(hanging).to.reject(
      ThreadTerminated,
      'A worker process ended unexpectedly: it exited with 3',
    );
    await expect(dying).to.reject(ThreadTerminated);
    expect((await run('ada', 'echo', 1)).input).to.equal(1);
  });

  it('ends when it is idle or closed, and not at a signal to all', async () => {
    const { run } = open();
    const { pid } = await run('ada', 'echo', 1);
    clock.forward(IDLE_MS);
    await isGone(pid);
    const hanging = run('ada', 'hang', null);
    const next = await run('ada', 'echo', 1);
    expect(next.pid).to.not.equal(pid);
    process.kill(next.pid, 'SIGTERM');
    process.kill(next.pid, 'SIGINT');
    expect((await run('ada', 'echo', 1)).pid).to.equal(next.pid);
    await Promise.all([pools.close(), expect(hanging).to.reject(ThreadTerminated)]);
    expect(isAlive(next.pid)).to.be.false();
  });
});
