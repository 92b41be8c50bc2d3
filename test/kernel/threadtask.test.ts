import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { TaskLimitExceeded } from '../../src/kernel/pool.js';
import { inThread } from '../../src/kernel/threadtask.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** A thread that echoes, fails, dies, never answers, or takes ever more memory. */
const SCRIPT = `
  import { parentPort, workerData } from 'node:worker_threads';
  if (workerData === 'fail') throw new Error('it failed');
  if (workerData === 'hang') for (;;);
  if (workerData === 'bloat') for (const all = []; ; ) all.push(Array.from({ length: 1e5 }, Math.random));
  if (workerData === 'echo') parentPort.postMessage(workerData);
`;
const file = new URL(`data:text/javascript,${encodeURIComponent(SCRIPT)}`);

const run = (input: string, more: { limitMs?: number; heapMb?: number; signal?: AbortSignal }) =>
  inThread<string>({ file, input, limitMs: 30_000, failure: 'It came to nothing', ...more });

describe('a task in a thread of its own', () => {
  it('replies, or fails as its thread does', async () => {
    expect(await run('echo', {})).to.equal('echo');
    await expect(run('fail', {})).to.reject(Error, 'it failed');
    await expect(run('die', {})).to.reject(Error, 'It came to nothing');
  });

  it('is told apart if it takes too much time or memory', async () => {
    await expect(run('hang', { limitMs: 50 })).to.reject(TaskLimitExceeded, 'It came to nothing');
    await expect(run('bloat', { heapMb: 16 })).to.reject(TaskLimitExceeded, 'It came to nothing');
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const hung = run('hang', { signal });
    setImmediate(() => controller.abort(new Error('stopped')));
    await expect(hung).to.reject(Error, 'stopped');
    await expect(run('echo', { signal })).to.reject(Error, 'stopped');
  });
});
