import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { OperationRun } from '../../src/operations/kind.js';
import { ExpectationFailed } from '../../src/store/engine/protocol.js';
import { until, untilMatches } from '../harness/app.js';
import { putFact } from '../store/scratch.js';
import {
  begin,
  type Counted,
  kindOf,
  type OperationsStage,
  OWNER,
  openOperationsStage,
} from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

type CountRun = OperationRun<Counted, number>;

describe('operations', () => {
  let stage: OperationsStage;
  beforeEach(async () => {
    stage = await openOperationsStage();
  });
  afterEach(() => stage.remove());

  /** Counts up with one fact for each step, which can be written once only. */
  const countUp = async ({ input, checkpoint, commit, signal }: CountRun) => {
    for (let at = (checkpoint ?? 0) + 1; at <= input.to; at++) {
      signal.throwIfAborted();
      const progress = { done: at, total: input.to, unit: 'steps', note: null };
      await commit([putFact(`step ${at}`, 'once')], { checkpoint: at, progress });
    }
    return { status: 'completed' as const, result: { counted: input.to } };
  };

  const jobs = () => stage.store.db.selectFrom('jobs').select(['ref', 'attempts']).execute();

  it('runs to its end, tells how far it is, and leaves no job', async () => {
    const operations = stage.open();
    await operations.start();
    const begun = await begin(operations, kindOf(countUp));
    expect(begun).to.include({ kind: 'test.count', status: 'queued', title: 'Counting' });
    expect(await stage.ended(begun.id)).to.equal({
      ...{ status: 'completed', checkpoint: '3', result: '{"counted":3}', error: null },
    });
    expect(await jobs()).to.equal([]);
    const statuses = stage.published.map(({ status }) => status);
    expect([statuses.at(0), statuses.at(-1)]).to.equal(['queued', 'completed']);
    expect(stage.published.at(-1)?.progress?.done).to.equal(3);
  });

  it('is refused where too many of its kind wait, which hinders no other kind', async () => {
    const operations = stage.open();
    const few = operations.register(kindOf(countUp, { most: 2 }));
    const of = {
      ...{ userId: OWNER, title: 'Counting', input: { to: 1 } },
      ...{ resource: { kind: 'user', id: OWNER }, progress: { total: 1, unit: 'steps' } },
    };
    for (let count = 0; count < 2; count++) await few.begin(of, []);
    await expect(few.begin(of, [])).to.reject(
      'You already have 2 unfinished operations of the kind test.count, which is the maximum. Wait until an operation has ended, or cancel one of these operations',
    );
    const other = operations.register(kindOf(countUp, { kind: 'test.other', most: 1 }));
    expect((await other.begin(of, [])).status).to.equal('queued');
  });

  it('goes on from its checkpoint after a kill, and takes no step twice', async () => {
    const killed = stage.open();
    await killed.start();
    const stuck = kindOf(async (run) => {
      await countUp({ ...run, input: { to: 2 } });
      return new Promise(() => {});
    });
    const { id } = await begin(killed, stuck, 5);
    await untilMatches(() => stage.row(id), { checkpoint: '2' });
    const next = stage.open();
    const from: (number | null)[] = [];
    next.register(
      kindOf(async (run) => {
        from.push(run.checkpoint);
        return countUp(run);
      }),
    );
    await next.start();
    expect(await stage.ended(id)).to.include({ status: 'completed', checkpoint: '5' });
    expect(from).to.equal([2]);
    const facts = stage.store.db.selectFrom('facts').select('name').where('value', '=', 'once');
    expect(await facts.execute()).to.have.length(5);
  });

  it('is interrupted by a kill where it cannot go on', async () => {
    const killed = stage.open();
    await killed.start();
    const never = kindOf(() => new Promise(() => {}), { isResumable: false });
    const { id } = await begin(killed, never);
    await untilMatches(() => stage.row(id), { status: 'running' });
    const next = stage.open();
    next.register(never);
    await next.start();
    const { status, error } = await stage.ended(id);
    expect([status, error]).to.equal([
      'interrupted',
      'The daemon ended during the operation, which cannot be resumed',
    ]);
    expect(await jobs()).to.equal([]);
  });

  it('stops at once with the daemon where it can go on later', async () => {
    const first = stage.open();
    await first.start();
    const waiting = kindOf(async ({ signal }) => {
      await once(signal, 'abort');
      throw signal.reason;
    });
    const { id } = await begin(first, waiting);
    await untilMatches(() => stage.row(id), { status: 'running' });
    // It ends by being told, before the time is over: nothing else would end it.
    await first.stop(20_000);
    expect(await stage.row(id)).to.include({ status: 'running' });
    expect(await jobs()).to.equal([{ ref: id, attempts: 0 }]);
    const next = stage.open();
    next.register(kindOf(countUp));
    await next.start();
    expect(await stage.ended(id)).to.include({ status: 'completed' });
  });

  it('fails after ten starts that it did not survive, and not before', async () => {
    const killed = stage.open();
    await killed.start();
    const never = kindOf(() => new Promise(() => {}));
    const { id } = await begin(killed, never);
    for (let start = 2; start <= 10; start++) {
      const { attempts } = await until(
        async () => (await jobs())[0] ?? { attempts: 0 },
        (job) => job.attempts === start - 1,
      );
      expect(attempts).to.equal(start - 1);
      const next = stage.open();
      next.register(never);
      await next.start();
    }
    await until(jobs, ([job]) => job?.attempts === 10);
    expect(await stage.row(id)).to.include({ status: 'running' });
    const last = stage.open();
    last.register(never);
    await last.start();
    expect(await stage.ended(id)).to.include({
      status: 'failed',
      error: 'The daemon ended 10 times during the same step of the operation',
    });
  });

  it('writes nothing of a step whose expectation fails, and says which it was', async () => {
    const operations = stage.open();
    await operations.start();
    const at: number[] = [];
    const { id } = await begin(
      operations,
      kindOf(async ({ commit }) => {
        const after = { checkpoint: 1, progress: { done: 1, total: 1, unit: 'steps', note: null } };
        const unmet = {
          sql: 'UPDATE facts SET value = 1 WHERE name = 2',
          parameters: [],
          expect: 1,
        };
        try {
          await commit([putFact('never', 'kept'), unmet], after);
        } catch (error) {
          if (error instanceof ExpectationFailed) at.push(error.at);
        }
        return { status: 'failed', error: 'as it was to' };
      }),
    );
    expect(await stage.ended(id)).to.include({
      status: 'failed',
      checkpoint: null,
      error: 'as it was to',
    });
    expect(at).to.equal([1]);
    const facts = stage.store.db.selectFrom('facts').select('name').where('name', '=', 'never');
    expect(await facts.execute()).to.equal([]);
  });

  it('ends with its resource, in one transaction', async () => {
    const operations = stage.open();
    await operations.start();
    const kind = kindOf(countUp, {
      ended: ({ id }, status) => [putFact(`resource of ${id}`, status)],
    });
    const { id } = await begin(operations, kind);
    await stage.ended(id);
    const fact = stage.store.db.selectFrom('facts').select('value');
    const found = await fact.where('name', '=', `resource of ${id}`).execute();
    expect(found).to.equal([{ value: 'completed' }]);
  });

  it('ends where its owner is disabled while it runs, and commits nothing more', async () => {
    const operations = stage.open();
    await operations.start();
    let isDisabled: () => void = () => undefined;
    const disabled = new Promise<void>((resolve) => {
      isDisabled = resolve;
    });
    const { id } = await begin(
      operations,
      kindOf(async (run) => {
        await disabled;
        return countUp(run);
      }),
    );
    const disable = stage.store.db.updateTable('users').set({ disabled_at: '2026-01-01' });
    await disable.where('id', '=', OWNER).execute();
    isDisabled();
    expect(await stage.ended(id)).to.equal({
      ...{ status: 'cancelled', checkpoint: null, result: null },
      error: 'The owner is no longer allowed to run this operation',
    });
    expect(await jobs()).to.equal([]);
  });

  it('of admins ends where its owner is none', async () => {
    const operations = stage.open();
    await operations.start();
    const { id } = await begin(operations, kindOf(countUp, { isAdmins: true }));
    expect(await stage.ended(id)).to.include({ status: 'cancelled', checkpoint: null });
  });

  it('is told in few steps, the end always', async () => {
    const operations = stage.open();
    await operations.start();
    const { id } = await begin(
      operations,
      kindOf(async ({ progress }) => {
        for (let done = 1; done <= 240; done++) {
          progress({ done, total: 240, unit: 'steps', note: null });
        }
        return { status: 'completed', result: {} };
      }),
    );
    await stage.ended(id);
    await untilMatches(async () => stage.published.at(-1)?.status, 'completed');
    // What comes at once is told at its begin and at its end.
    expect(stage.published.length).to.be.below(10);
    expect(stage.published.at(-1)?.progress?.done).to.equal(240);
  });
});
