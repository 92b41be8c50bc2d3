import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilMatches } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { type ApiStage, openApiStage } from './apistage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('the API of operations', () => {
  let stage: ApiStage;
  before(async () => {
    stage = await openApiStage();
  });
  after(() => stage.app.stop());

  it('shows an operation whole, and lists it by kind, status and resource', async () => {
    const { id, createdAt } = await stage.begin();
    const { body } = await stage.running(id);
    const { startedAt } = body;
    expect(body).to.equal({
      id,
      orgId: null,
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
    const found = async (query: string) =>
      (await stage.ask('GET', `?${query}`)).body.operations.length;
    expect(await found('kind=test.wait&status=running&resource=hook:hook_1')).to.equal(1);
    expect(await found('kind=documents.read')).to.equal(0);
    const unknown = await stage.ask('GET', '?kind=documents.reed');
    expect(unknown.status).to.equal(400);
    expect(unknown.body.details[0].path).to.equal('kind');
    expect(unknown.body.details[0].message).to.contain('documents.read, ');
    expect(await found('status=queued')).to.equal(0);
    expect(await found('resource=hook:hook_2')).to.equal(0);
    expect((await stage.ask('GET', '?resource=hook')).status).to.equal(400);
    await stage.ask('POST', `/${id}/cancel`);
  });

  it('waits for the next change, and not at all for what has ended', async () => {
    const { id } = await stage.begin();
    await stage.running(id);
    const changed = stage.ask('GET', `/${id}?wait=25`);
    stage.release();
    const { body } = await changed;
    const end =
      body.status === 'completed' ? body : (await stage.ask('GET', `/${id}?wait=25`)).body;
    expect([end.status, end.result]).to.equal(['completed', { steps: 2 }]);
    const held = (await stage.begin()).id;
    await stage.running(held);
    const order: string[] = [];
    const waits = async (of: string) => {
      await stage.ask('GET', `/${of}?wait=25`);
      order.push(of);
    };
    // The one that has ended is asked for last.
    const other = waits(held);
    await waits(id);
    stage.release();
    await other;
    expect(order).to.equal([id, held]);
    expect((await stage.ask('GET', `/${id}?wait=26`)).status).to.equal(400);
  });

  it('is cancelled once', async () => {
    const { id } = await stage.begin();
    await stage.running(id);
    const before = stage.aborted();
    const { status, body } = await stage.ask('POST', `/${id}/cancel`);
    expect([status, body.status]).to.equal([200, 'cancelled']);
    expect(body.progress.done).to.equal(1);
    await untilMatches(async () => stage.aborted(), before + 1);
    const again = await stage.ask('POST', `/${id}/cancel`);
    expect([again.status, again.body.message]).to.equal([
      409,
      'The operation has already ended with status cancelled',
    ]);
    await until(
      () => stage.app.app.store.db.selectFrom('jobs').select('id').where('ref', '=', id).execute(),
      (jobs) => jobs.length === 0,
    );
    expect((await stage.ask('GET', `/${id}`)).body.status).to.equal('cancelled');
  });

  it('runs four of a user at once; one that waits is cancelled before it began', async () => {
    const begun: string[] = [];
    for (let count = 0; count < 5; count++) begun.push((await stage.begin()).id);
    await untilMatches(
      async () => (await stage.ask('GET', '?status=running')).body.operations.length,
      4,
    );
    const { body } = await stage.ask('GET', '?status=queued');
    expect(body.operations.map(({ id }: { id: string }) => id)).to.equal(begun.slice(4));
    const queued = await stage.ask('POST', `/${begun[4]}/cancel`);
    expect([queued.body.status, queued.body.startedAt]).to.equal(['cancelled', null]);
    for (const id of begun.slice(0, 4)) await stage.ask('POST', `/${id}/cancel`);
  });

  it('is not there for others', async () => {
    const { id } = await stage.begin();
    const stranger = await stage.app.register('stranger');
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/cancel`],
    ] as const) {
      const { status, body } = await stage.ask(method, path, stranger.token);
      expect([status, body.message]).to.equal([404, 'No operation with that id']);
    }
    expect((await stage.ask('GET', '', stranger.token)).body.operations).to.equal([]);
    await stage.ask('POST', `/${id}/cancel`);
  });

  it('is pruned after its retention, as long as it has ended', async () => {
    const old = await stage.begin();
    await stage.ask('POST', `/${old.id}/cancel`);
    const { db } = stage.app.app.store;
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
    const open = await stage.begin();
    await stage.running(open.id);
    await inside(stage.app.app).retention.prune();
    const left = await db
      .selectFrom('operations')
      .select('id')
      .where('id', 'in', [ids.old, open.id])
      .execute();
    expect(left).to.equal([{ id: open.id }]);
    await stage.ask('POST', `/${open.id}/cancel`);
  });
});
