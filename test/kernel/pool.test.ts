import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  createPool,
  type Pool,
  PoolFull,
  type PoolOptions,
  TaskLimitExceeded,
  ThreadTerminated,
} from '../../src/kernel/pool.js';
import { type FrozenClock, frozenClock } from '../harness/clock.js';

export const lab = Lab.script();
const { afterEach, describe, it } = lab;

/** A thread that echoes, fails, dies, or never answers. */
const SCRIPT = `
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', ({ task, input }) => {
    if (task === 'fail') parentPort.postMessage({ failure: 'it failed' });
    if (task === 'die') process.exit(1);
    if (task === 'bloat') for (const all = []; ; ) all.push(Array.from({ length: 1e5 }, Math.random));
    if (task === 'echo') parentPort.postMessage({ value: { input, threadId } });
  });
`;

interface Tasks {
  [name: string]: (input: never) => unknown;
  echo(input: string): { input: string; threadId: number };
  fail(input: null): never;
  die(input: null): never;
  hang(input: null): never;
  bloat(input: null): never;
}

const LIMIT_MS = 60_000;
const IDLE_MS = 30_000;

let pool: Pool<Tasks>;
let clock: FrozenClock;
type Given = Partial<Pick<PoolOptions, 'size' | 'waiting' | 'heapMb'>>;
const open = (given: Given = {}) => {
  clock = frozenClock();
  pool = createPool({
    clock,
    script: new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`),
    size: 1,
    waiting: 10,
    limitMs: LIMIT_MS,
    heapMb: 64,
    idleMs: IDLE_MS,
    ...given,
  });
  return pool;
};

describe('a pool of threads', () => {
  afterEach(() => pool.close());

  it('answers from a thread, and keeps it for the next', async () => {
    const { run } = open();
    const first = await run('ada', 'echo', 'a');
    const second = await run('bob', 'echo', 'b');
    expect([first.input, second.input]).to.equal(['a', 'b']);
    expect(second.threadId).to.equal(first.threadId);
    await expect(run('ada', 'fail', null)).to.reject(Error, 'it failed');
    expect((await run('ada', 'echo', 'c')).threadId).to.equal(first.threadId);
  });

  it('starts a new thread where one died or took too long', async () => {
    const { run } = open();
    const [{ threadId }, died] = await Promise.all([
      run('ada', 'echo', 'a'),
      run('ada', 'die', null).catch((error) => error),
    ]);
    expect(died).to.be.an.error(ThreadTerminated, 'A worker thread ended unexpectedly: it exited');
    const next = await run('ada', 'echo', 'b');
    expect(next.threadId).to.not.equal(threadId);
    const hung = expect(run('ada', 'hang', null)).to.reject(
      ThreadTerminated,
      'A worker thread ended unexpectedly: it took longer than 60 s',
    );
    await clock.waiting(LIMIT_MS);
    clock.forward(LIMIT_MS);
    await hung;
    expect((await run('ada', 'echo', 'c')).threadId).to.not.equal(next.threadId);
  });

  it('takes no more than may wait, and lets who asks little go first', async () => {
    const { run } = open({ waiting: 2 });
    const order: string[] = [];
    const ask = (asker: string) =>
      run(asker, 'echo', asker)
        .then(() => order.push(asker))
        .catch((error) => error);
    const flood = [ask('eve'), ask('eve'), ask('eve'), ask('ada')];
    const results = await Promise.all(flood);
    expect(results.filter((one) => one instanceof PoolFull)).to.have.length(1);
    expect(order).to.equal(['eve', 'ada', 'eve']);
  });

  it('tells a task that takes too much time from a thread that died', async () => {
    const { run } = open();
    const died = await run('ada', 'die', null).catch((error) => error);
    expect(died).not.to.be.instanceof(TaskLimitExceeded);
    const hung = expect(run('ada', 'hang', null)).to.reject(TaskLimitExceeded);
    await clock.waiting(LIMIT_MS);
    clock.forward(LIMIT_MS);
    await hung;
  });

  it('tells a task that takes too much memory, and goes on', async () => {
    const { run } = open({ heapMb: 16 });
    const bloated = 'A worker thread ended unexpectedly: it used more than 16 MB of memory';
    await expect(run('ada', 'bloat', null)).to.reject(TaskLimitExceeded, bloated);
    expect((await run('ada', 'echo', 'c')).input).to.equal('c');
  });

  it('keeps a thread for others, however much one asks', async () => {
    const { run } = open({ size: 2 });
    const hung = [1, 2].map(() => run('eve', 'hang', null).catch((error) => error));
    for (const asker of ['ada', 'bob', 'ada']) {
      expect((await run(asker, 'echo', asker)).input).to.equal(asker);
    }
    await pool.close();
    expect((await hung[0]) instanceof ThreadTerminated).to.be.true();
  });

  it('ends a thread that has nothing to do', async () => {
    const { run } = open();
    const first = await run('ada', 'echo', 'a');
    clock.forward(IDLE_MS);
    const next = await run('ada', 'echo', 'b');
    expect(next.input).to.equal('b');
    expect(next.threadId).to.not.equal(first.threadId);
  });
});
