import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { OperationBeginner } from '../../src/operations/module.js';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the API of operations', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  let waiting: OperationBeginner<object>;
  let release: () => void = () => undefined;
  let aborted = 0;

  before(async () => {
    app = await startApp({ config: { registration: 'open' } });
    owner = await app.register('owner');
    waiting = inside(app.app).operations.register<object, number>({
      ...{ kind: 'test.wait', isResumable: true, isAdmins: false },
      run: async ({ commit, signal }) => {
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        const progress = (done: number) => ({
          done,
          total: 2,
          unit: 'steps',
          note: `${done} done`,
        });
        await commit([], { checkpoint: 1, progress: progress(1) });
        const never = once(signal, 'abort').then(() => {
          aborted++;
          throw signal.reason;
        });
        await Promise.race([released, never]);
        return { status: 'completed', result: { steps: 2 } };
      },
    });
  });
  after(() => app.stop());

  const begin = () =>
    waiting.begin(
      {
        ...{ userId: owner.id, title: 'Waiting', input: {} },
        ...{ resource: { kind: 'hook', id: 'hook_1' }, progress: { total: 2, unit: 'steps' } },
      },
      [],
    );
  const ask = (method: string, path: string, token = owner.token) =>
    app.call(method, `/api/operations${path}`, { token });
  const running = (id: string) =>
    until(
      () => ask('GET', `/${id}`),
      ({ body }) => body.progress.done === 1,
    );

  it('shows an operation whole, and lists it by kind, status and resource', async () => {
    const { id, createdAt } = await begin();
    const { body } = await running(id);
    const { startedAt } = body;
    expect(body).to.equal({
      id,
      kind: 'test.wait',
      resource: { kind: 'hook', id: 'hook_1' },
      title: 'Waiting',
      status: 'running',
      progress: { done: 1, total: 2, unit: 'steps', note: '1 done' },
      result: null,
      error: null,
      createdAt,
      startedAt,
      finishedAt: null,
    });
    const found = async (query: string) => (await ask('GET', `?${query}`)).body.operations.length;
    expect(await found('kind=test.wait&status=running&resource=hook:hook_1')).to.equal(1);
    expect(await found('kind=documents.read')).to.equal(0);
    const unknown = await ask('GET', '?kind=documents.reed');
    expect(unknown.status).to.equal(400);
    expect(unknown.body.details[0].path).to.equal('kind');
    expect(unknown.body.details[0].message).to.contain('documents.read, ');
    expect(await found('status=queued')).to.equal(0);
    expect(await found('resource=hook:hook_2')).to.equal(0);
    expect((await ask('GET', '?resource=hook')).status).to.equal(400);
    await ask('POST', `/${id}/cancel`);
  });

  it('waits for the next change, and not at all for what has ended', async () => {
    const { id } = await begin();
    await running(id);
    const changed = ask('GET', `/${id}?wait=25`);
    release();
    const { body } = await changed;
    const end = body.status === 'completed' ? body : (await ask('GET', `/${id}?wait=25`)).body;
    expect([end.status, end.result]).to.equal(['completed', { steps: 2 }]);
    const held = (await begin()).id;
    await running(held);
    const order: string[] = [];
    const waits = async (of: string) => {
      await ask('GET', `/${of}?wait=25`);
      order.push(of);
    };
    // The one that has ended is asked for last.
    const other = waits(held);
    await waits(id);
    release();
    await other;
    expect(order).to.equal([id, held]);
    expect((await ask('GET', `/${id}?wait=26`)).status).to.equal(400);
  });

  it('is cancelled once', async () => {
    const { id } = await begin();
    await running(id);
    const before = aborted;
    const { status, body } = await ask('POST', `/${id}/cancel`);
    expect([status, body.status]).to.equal([200, 'cancelled']);
    expect(body.progress.done).to.equal(1);
    await untilMatches(async () => aborted, before + 1);
    const again = await ask('POST', `/${id}/cancel`);
    expect([again.status, again.body.message]).to.equal([
      409,
      'The operation has already ended with status cancelled',
    ]);
    await until(
      () => app.app.store.db.selectFrom('jobs').select('id').where('ref', '=', id).execute(),
      (jobs) => jobs.length === 0,
    );
    expect((await ask('GET', `/${id}`)).body.status).to.equal('cancelled');
  });

  it('runs four of a user at once; one that waits is cancelled before it began', async () => {
    const begun: string[] = [];
    for (let count = 0; count < 5; count++) begun.push((await begin()).id);
    await untilMatches(async () => (await ask('GET', '?status=running')).body.operations.length, 4);
    const { body } = await ask('GET', '?status=queued');
    expect(body.operations.map(({ id }: { id: string }) => id)).to.equal(begun.slice(4));
    const queued = await ask('POST', `/${begun[4]}/cancel`);
    expect([queued.body.status, queued.body.startedAt]).to.equal(['cancelled', null]);
    for (const id of begun.slice(0, 4)) await ask('POST', `/${id}/cancel`);
  });

  it('is not there for others', async () => {
    const { id } = await begin();
    const stranger = await app.register('stranger');
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/cancel`],
    ] as const) {
      const { status, body } = await ask(method, path, stranger.token);
      expect([status, body.message]).to.equal([404, 'No operation with that id']);
    }
    expect((await ask('GET', '', stranger.token)).body.operations).to.equal([]);
    await ask('POST', `/${id}/cancel`);
  });

  it('is pruned after its retention, as long as it has ended', async () => {
    const old = await begin();
    await ask('POST', `/${old.id}/cancel`);
    const { db } = app.app.store;
    const ids = {
      old: 'operation_00000000000000000000000001',
      open: 'operation_00000000000000000000000002',
    };
    const at = '2020-01-01T00:00:00.000Z';
    await db
      .updateTable('operations')
      .set({ id: ids.old, finished_at: at })
      .where('id', '=', old.id)
      .execute();
    const open = await begin();
    await running(open.id);
    await inside(app.app).retention.prune();
    const left = await db
      .selectFrom('operations')
      .select('id')
      .where('id', 'in', [ids.old, open.id])
      .execute();
    expect(left).to.equal([{ id: open.id }]);
    await ask('POST', `/${open.id}/cancel`);
  });
});
