import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Job, Queue } from '../../src/jobs/handler.js';
import { createQueue } from '../../src/jobs/queue.js';
import { addJob, releaseJob, removeJob } from '../../src/jobs/statements.js';
import { markTemporary } from '../../src/kernel/failure.js';
import { createLog } from '../../src/kernel/log.js';
import { type FrozenClock, frozenClock } from '../harness/clock.js';
import { openScratch, type Scratch } from '../store/scratch.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

/** After a temporary error. */
const REST_MS = 500;
const DUE = '2026-01-01T00:00:00.000Z';

describe('queue', () => {
  let scratch: Scratch;
  let clock: FrozenClock;
  before(async () => {
    scratch = await openScratch();
  });
  beforeEach(async () => {
    clock = frozenClock();
    await scratch.store.db.deleteFrom('jobs').execute();
  });
  after(() => scratch.remove());

  const queueOf = (limit = 2): Queue =>
    createQueue({
      store: scratch.store,
      clock,
      log: createLog('silent'),
      boot: 'boot_now',
      concurrency: 20,
      limitOf: () => limit,
    });

  const add = async (...refs: string[]): Promise<void> => {
    const { store } = scratch;
    const job = { kind: 'work', lane: 'lane', runAt: DUE };
    await store.transact(refs.map((ref) => addJob({ ...job, ref })));
  };

  const jobs = () =>
    scratch.store.db.selectFrom('jobs').select(['ref', 'attempts', 'boot']).orderBy('id').execute();

  /** Runs each job to its end; resolves when so many have ended. */
  const work = (queue: Queue, count: number, act: (job: Job) => Promise<void> = async () => {}) => {
    const done: string[] = [];
    const all = new Promise<string[]>((resolve) => {
      queue.handle('work', {
        run: async (job) => {
          await act(job);
          await scratch.store.transact([removeJob(scratch.store, job.id)]);
          if (done.push(job.ref) === count) resolve(done);
          return null;
        },
        abandon: async () => undefined,
      });
    });
    return all;
  };

  it('runs what waits, oldest first, and leaves nothing behind', async () => {
    const queue = queueOf(1);
    await add('a', 'b', 'c');
    const done = work(queue, 3);
    await queue.start();
    expect(await done).to.equal(['a', 'b', 'c']);
    await queue.stop(1000);
    expect(await jobs()).to.equal([]);
    expect(queue.totals()).to.equal({ waiting: 0, running: 0 });
  });

  it('runs few at a time while batches are held, and all in the end', async () => {
    const { store } = scratch;
    let begun = 0;
    const precedence = {
      roomInBatches: () => 5,
      began: (jobs: number) => {
        begun += jobs;
      },
    };
    const held = { precedence, batchOf: () => 256, limitOf: () => 1 };
    const queue = createQueue({
      ...{ store, clock, log: createLog('silent'), boot: 'boot_now' },
      ...{ concurrency: 20, ...held },
    });
    const refs = Array.from({ length: 30 }, (_, n) => `job ${n}`);
    await add(...refs);
    const sizes: number[] = [];
    const done: string[] = [];
    const all = new Promise<void>((resolve) => {
      queue.handle('work', {
        run: async () => null,
        abandon: async () => undefined,
        runBatch: async (batch) => {
          await store.transact(batch.map(({ id }) => removeJob(store, id)));
          sizes.push(batch.length);
          done.push(...batch.map(({ ref }) => ref));
          if (done.length === refs.length) resolve();
          return { failures: [], left: 0 };
        },
      });
    });
    await queue.start();
    await all;
    expect(done).to.equal(refs);
    expect(Math.max(...sizes)).to.equal(5);
    expect(begun).to.equal(refs.length);
    await queue.stop(1000);
  });

  it('runs no more of a lane at once than its limit', async () => {
    const queue = queueOf(2);
    await add('a', 'b', 'c', 'd', 'e');
    let running = 0;
    let most = 0;
    const done = work(queue, 5, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    });
    await queue.start();
    await done;
    await queue.stop(1000);
    expect(most).to.equal(2);
  });

  it('frees what an earlier boot had claimed', async () => {
    await add('a');
    await scratch.store.db.updateTable('jobs').set({ boot: 'boot_before', attempts: 1 }).execute();
    const queue = queueOf();
    const attempts: number[] = [];
    const done = work(queue, 1, async (job) => {
      attempts.push(job.attempts);
    });
    await queue.start();
    expect(await done).to.equal(['a']);
    expect(attempts).to.equal([2]);
    await queue.stop(1000);
  });

  it('runs a job that was put off when it is due, not before', async () => {
    const queue = queueOf();
    const { store } = scratch;
    const runAt = new Date(clock.now() + 1000).toISOString();
    await store.transact([addJob({ kind: 'work', ref: 'later', lane: 'lane', runAt })]);
    const began: number[] = [];
    const done = work(queue, 1, async () => {
      began.push(clock.now());
    });
    await queue.start();
    await clock.waiting(1000);
    clock.forward(999);
    await clock.waiting(1);
    expect(began).to.equal([]);
    clock.forward(1);
    await done;
    expect(began).to.equal([Date.parse(runAt)]);
    await queue.stop(1000);
  });

  it('tries a job again that failed unexpectedly, and gives it up the fifth time', async () => {
    await add('first', 'last');
    await scratch.store.db
      .updateTable('jobs')
      .set({ attempts: 4 })
      .where('ref', '=', 'last')
      .execute();
    const queue = queueOf();
    const abandoned = new Promise<string>((resolve) => {
      queue.handle('work', {
        run: async () => {
          throw new Error('unexpected');
        },
        abandon: async (job, error) => {
          await scratch.store.transact([removeJob(scratch.store, job.id)]);
          resolve(`${job.ref} ${job.attempts} ${error.message}`);
        },
      });
    });
    await queue.start();
    expect(await abandoned).to.equal('last 5 unexpected');
    await queue.stop(1000);
    expect(await jobs()).to.equal([{ ref: 'first', attempts: 1, boot: null }]);
  });

  it('tries a job as often as it takes while what fails it passes', async () => {
    await add('first');
    await scratch.store.db.updateTable('jobs').set({ attempts: 4 }).execute();
    const queue = queueOf();
    let tries = 0;
    const done = new Promise<string>((resolve) => {
      queue.handle('work', {
        run: async (job) => {
          if (++tries <= 2) throw markTemporary(new Error('full'));
          await scratch.store.transact([removeJob(scratch.store, job.id)]);
          resolve(`done, attempt ${job.attempts}`);
          return null;
        },
        abandon: async (job) => resolve(`abandoned, attempt ${job.attempts}`),
      });
    });
    await queue.start();
    for (const _ of [1, 2]) {
      await clock.waiting(REST_MS);
      clock.forward(REST_MS);
    }
    expect(await done).to.equal('done, attempt 5');
    await queue.stop(1000);
    expect(await jobs()).to.equal([]);
  });

  it('gives a slot that is given back to the next', async () => {
    const queue = queueOf(1);
    await add('a', 'b');
    const next = new Promise<void>((resolve) => {
      queue.handle('work', {
        run: async ({ ref }, _signal, free) => {
          if (ref === 'b') resolve();
          else free();
          await next;
          return null;
        },
        abandon: async () => undefined,
      });
    });
    await queue.start();
    await next;
    await queue.stop(1000);
    expect(queue.totals()).to.equal({ waiting: 0, running: 0 });
  });

  it('runs what it was claiming when it stops', async () => {
    const queue = queueOf();
    await add('a');
    const done = work(queue, 1);
    await queue.start();
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await queue.stop(1000);
    expect(await jobs()).to.equal([]);
    expect(await done).to.equal(['a']);
  });

  it('waits for what runs when it stops, claims no more, and aborts what takes too long', async () => {
    const queue = queueOf(1);
    await add('long', 'next');
    const began = new Promise<void>((resolve) => {
      queue.handle('work', {
        run: (job, signal) => {
          resolve();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error(`${job.ref} was aborted`)));
          });
        },
        abandon: async () => undefined,
      });
    });
    await queue.start();
    await began;
    await queue.stop(20);
    expect(await jobs()).to.equal([
      { ref: 'long', attempts: 1, boot: 'boot_now' },
      { ref: 'next', attempts: 0, boot: null },
    ]);
  });

  it('gives a slot to the next job where one was released', async () => {
    const queue = queueOf(1);
    await add('a', 'b');
    const { store } = scratch;
    const seen: string[] = [];
    const both = new Promise<void>((resolve) => {
      queue.handle('work', {
        run: async (job) => {
          const runAt = new Date(clock.now() + 60_000).toISOString();
          await store.transact([releaseJob(store, job, runAt)]);
          queue.delayed(job.lane, runAt);
          if (seen.push(job.ref) === 2) resolve();
          return null;
        },
        abandon: async () => undefined,
      });
    });
    await queue.start();
    await both;
    await queue.stop(1000);
    expect(seen).to.equal(['a', 'b']);
  });

  it('shares its table with another queue, each with kinds of its own', async () => {
    const { store } = scratch;
    const other = { kind: 'other', ref: 'theirs', lane: 'their lane', runAt: DUE };
    await store.transact([addJob(other)]);
    await add('ours');
    await store.db.updateTable('jobs').set({ boot: 'boot_before' }).execute();
    const queue = queueOf();
    const done = work(queue, 1);
    await queue.start();
    expect(await done).to.equal(['ours']);
    await queue.stop(1000);
    expect(queue.totals()).to.equal({ waiting: 0, running: 0 });
    expect(await jobs()).to.equal([{ ref: 'theirs', attempts: 0, boot: 'boot_before' }]);
  });

  it('lets a lane rest for as long as it is told', async () => {
    const queue = queueOf();
    const began: number[] = [];
    const done = work(queue, 1, async () => {
      began.push(clock.now());
    });
    await queue.start();
    const since = clock.now();
    queue.rest('lane', 1000);
    await add('a');
    queue.added('lane');
    clock.forward(999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(queue.totals()).to.equal({ waiting: 1, running: 0 });
    clock.forward(1);
    await done;
    expect(began).to.equal([since + 1000]);
    await queue.stop(1000);
  });
});
