import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilAtLeast, untilMatches } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { timersFired } from '../harness/turns.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const AT = '2026-01-01T00:00:00.000Z';
const EXISTS = { conditions: [{ field: 'webhook.body.n', operator: 'exists' }] };

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
beforeEach(() => desk.arrive());
after(() => desk.test.stop());

/** Keeps the runs of a hook waiting until they are released. */
const hold = (id: string): void => inside(desk.test.app).queue.rest(id, 60_000);
const release = (id: string): void => inside(desk.test.app).queue.rest(id, 1);

const frames = (): { heard: [string, unknown][]; leave(): void } => {
  const { hub } = inside(desk.test.app);
  const heard: [string, unknown][] = [];
  const leaves = [
    hub.listen(desk.owner.id, 'hook.execution', (data) => {
      if (typeof data === 'object' && data && 'status' in data) heard.push(['run', data.status]);
    }),
    hub.listen(desk.owner.id, 'notification', (data) => {
      if (typeof data === 'object' && data && 'body' in data) heard.push(['notice', data.body]);
    }),
  ];
  return {
    heard,
    leave: () => {
      for (const leave of leaves) leave();
    },
  };
};
const notices = async (): Promise<string[]> => {
  const { notifications } = (await desk.ask('GET', '/api/notifications?limit=200')).body;
  return notifications.map(({ body }: { body: string }) => body);
};
const row = async (id: string) =>
  desk.test.app.store.db
    .selectFrom('executions')
    .select(['status', 'effect', 'attempts', 'created_at', 'started_at', 'finished_at', 'run_at'])
    .where('hook_id', '=', id)
    .executeTakeFirstOrThrow();
const inState = async (id: string, status: string): Promise<number> =>
  (await desk.ask('GET', `/api/hooks/${id}/executions?limit=200&status=${status}`)).body.executions
    .length;
/** How often the hook has run, as its limits count it. */
const runsOf = async (id: string): Promise<number> => {
  const hooks = desk.test.app.store.db.selectFrom('hooks').select(['runs', 'last_run_at']);
  const { runs, last_run_at } = await hooks.where('id', '=', id).executeTakeFirstOrThrow();
  expect(last_run_at === null).to.equal(runs === 0);
  return runs;
};

describe('a plain notification', () => {
  it('is there when its delivery is acknowledged, and is told in order', async () => {
    const id = await desk.hook(onPath('plain'));
    const { heard, leave } = frames();
    expect((await desk.deliver('plain', '{"n":1}')).status).to.equal(202);
    leave();
    expect(heard).to.equal([
      ['run', 'queued'],
      ['run', 'success'],
      ['notice', 'Got 1'],
    ]);
    const { created_at, ...rest } = await row(id);
    expect(rest).to.equal({
      ...{ status: 'success', effect: 'done', attempts: 1, run_at: null },
      ...{ started_at: created_at, finished_at: created_at },
    });
    const [run] = await desk.runs(id);
    expect(run).to.include({ status: 'success', result: { message: 'Got 1' }, error: null });
    expect(await notices()).to.equal(['Got 1']);
    const { body } = await desk.ask('GET', `/api/hooks/${id}`);
    expect(body.stats).to.include({ executions: 1, lastStatus: 'success' });
    expect(await runsOf(id)).to.equal(1);
  });

  it('waits for the earlier runs of its hook', async () => {
    const id = await desk.hook(onPath('ordered'));
    hold(id);
    await desk.ask('POST', `/api/hooks/${id}/test`, { payload: { n: 'first' } });
    await desk.deliver('ordered', '{"n":"second"}');
    expect((await row(id)).run_at).to.not.be.null();
    release(id);
    await desk.ended(id, 2);
    expect(await notices()).to.equal(['Got second', 'Got first']);
  });

  it('is queued where its hook was changed since the daemon read it', async () => {
    const id = await desk.hook(onPath('changed'));
    await desk.test.app.store.db
      .updateTable('hooks')
      .set({ action_config: '{"notifyMessage":"New"}', updated_at: '2026-01-01T00:00:00.000Z' })
      .where('id', '=', id)
      .execute();
    await desk.deliver('changed', '{"n":1}');
    await desk.ended(id);
    expect(await notices()).to.equal(['New']);
  });

  it('goes once to each hook, and once for a repeat', async () => {
    for (const name of ['one', 'two']) await desk.hook({ ...onPath('both'), name });
    const headers = { 'x-github-delivery': 'd-1' };
    const [first, again] = await Promise.all(
      [1, 2].map(() => desk.deliver('both', '{"n":1}', { headers })),
    );
    expect([first?.status, again?.status].sort()).to.equal([200, 202]);
    expect(await notices()).to.equal(['Got 1', 'Got 1']);
  });
});

describe('a batch of runs', () => {
  /** Deliveries to a hook whose runs are held back. */
  const held = async (path: string, count: number, given: object): Promise<string> => {
    const id = await desk.hook({ ...onPath(path), ...given });
    hold(id);
    const numbers = Array.from({ length: count }, (_, n) => n);
    const replies = await Promise.all(numbers.map((n) => desk.deliver(path, `{"n":${n}}`)));
    expect(replies.every(({ status }) => status === 202)).to.be.true();
    return id;
  };
  /** The same, all of which begin together. */
  const together = async (...of: Parameters<typeof held>): Promise<string> => {
    const id = await held(...of);
    release(id);
    return id;
  };
  /** Acts once, when runs are prepared and their ends are about to be written. */
  const beforeEnds = (act: () => Promise<unknown>): void => {
    const { store } = desk.test.app;
    const { call } = store;
    store.call = async (name, input) => {
      if (name === 'endExecutions') {
        store.call = call;
        await act();
      }
      return call(name, input);
    };
  };
  const counts = async (id: string, count: number): Promise<Record<string, number>> => {
    const all = desk.test.app.store.db.selectFrom('executions').where('hook_id', '=', id);
    const rows = await until(
      () => all.select(['status', 'run_at']).execute(),
      (found) => found.length === count && found.every(({ run_at }) => run_at === null),
    );
    return Object.fromEntries(
      ['success', 'skipped', 'error'].map((status) => [
        status,
        rows.filter((each) => each.status === status).length,
      ]),
    );
  };

  it('ends each run once, in the order of the deliveries', async () => {
    const id = await together('many', 300, EXISTS);
    expect(await counts(id, 300)).to.equal({ success: 300, skipped: 0, error: 0 });
    const all = desk.test.app.store.db.selectFrom('executions').where('hook_id', '=', id);
    const runs = await all.select(['id', 'finished_at', 'attempts']).orderBy('id').execute();
    const ends = runs.map(({ finished_at }) => finished_at ?? '');
    expect(ends).to.equal(ends.toSorted());
    expect(runs.every(({ attempts }) => attempts === 1)).to.be.true();
    const said = desk.test.app.store.db.selectFrom('notifications').select('body');
    const bodies = await said.where('user_id', '=', desk.owner.id).execute();
    expect(new Set(bodies.map(({ body }) => body)).size).to.equal(300);
    expect(bodies.length).to.equal(300);
    expect(await runsOf(id)).to.equal(300);
  });

  it('runs a hook as often as it may, and tells once that it did', async () => {
    const id = await together('limited', 40, { maxExecutions: 7 });
    expect(await counts(id, 40)).to.equal({ success: 7, skipped: 33, error: 0 });
    const all = await notices();
    expect(all.filter((body) => body.startsWith('Got ')).length).to.equal(7);
    expect(
      all.filter((body) => body.startsWith('The hook has reached its limit of 7 executions'))
        .length,
    ).to.equal(1);
    expect((await desk.ask('GET', `/api/hooks/${id}`)).body.enabled).to.be.false();
  });

  it('lets one of them through a cooldown', async () => {
    const id = await together('cool', 40, { cooldownMs: 60_000 });
    expect(await counts(id, 40)).to.equal({ success: 1, skipped: 39, error: 0 });
    expect(await runsOf(id)).to.equal(1);
    expect(await notices()).to.have.length(1);
  });

  it('runs tools without effects likewise', async () => {
    const id = await together('clock', 30, {
      action: 'execute_tool',
      actionConfig: { toolId: 'time', toolAction: 'now', toolParams: {} },
    });
    expect(await counts(id, 30)).to.equal({ success: 30, skipped: 0, error: 0 });
    const [run] = await desk.runs(id);
    expect(run).to.include({ status: 'success', attempts: 1 });
    expect(run.result).to.include('timezone');
  });

  it('ends a run by itself whose payload is too much', async () => {
    const id = await desk.hook({
      ...onPath('slow'),
      conditions: [{ field: 'webhook.body.t', operator: 'matches', value: '(a+)+$' }],
    });
    hold(id);
    for (const t of ['aa', `${'a'.repeat(100)}b`, 'a']) {
      await desk.deliver('slow', JSON.stringify({ t, n: 1 }));
    }
    release(id);
    expect(await counts(id, 3)).to.equal({ success: 2, skipped: 0, error: 1 });
  });

  it('of slow conditions holds up no other hook', async () => {
    const slow = await desk.hook({
      ...onPath('patterns'),
      name: 'patterns',
      conditions: [{ field: 'webhook.body.t', operator: 'matches', value: '^(a+)+$' }],
    });
    hold(slow);
    const quick = await desk.hook({ ...onPath('quick'), ...EXISTS });
    const t = `${'a'.repeat(40)}b`;
    const bodies = Array.from({ length: 100 }, (_, n) => JSON.stringify({ t, n }));
    await Promise.all(bodies.map((body) => desk.deliver('patterns', body)));
    release(slow);
    await untilAtLeast(() => inState(slow, 'error'), 1);
    await desk.deliver('quick', '{"n":1}');
    await desk.ended(quick);
    expect(await inState(slow, 'queued')).to.be.above(50);
    expect((await desk.ask('DELETE', `/api/hooks/${slow}`)).status).to.equal(204);
  });

  it('does nothing more for an account from the moment that it is disabled', async () => {
    const id = await held('ended', 20, EXISTS);
    const { store } = desk.test.app;
    beforeEnds(() => {
      const sql = `UPDATE users SET disabled_at = '2026-03-01T12:00:00.000Z' WHERE id = ?`;
      return store.transact([{ sql, parameters: [desk.owner.id] }]);
    });
    release(id);
    expect(await counts(id, 20)).to.equal({ success: 0, skipped: 20, error: 0 });
    const said = store.db.selectFrom('notifications').select('id');
    expect(await said.where('user_id', '=', desk.owner.id).execute()).to.equal([]);
    await store.db.updateTable('users').set({ disabled_at: null }).execute();
  });

  it('runs by the hook as it is when they end', async () => {
    const id = await held('edited', 20, EXISTS);
    const change = { actionConfig: { notifyMessage: 'New' } };
    const changed: number[] = [];
    beforeEnds(async () => {
      changed.push((await desk.ask('PUT', `/api/hooks/${id}`, change)).status);
    });
    release(id);
    expect(await counts(id, 20)).to.equal({ success: 20, skipped: 0, error: 0 });
    expect(changed).to.equal([200]);
    expect(new Set(await notices())).to.equal(new Set(['New']));
  });

  it('tells that a hook is used up in the transaction of its last run', async () => {
    const { store } = desk.test.app;
    const run = (sql: string) => store.transact([{ sql, parameters: [] }]);
    await run(
      `CREATE TRIGGER untold BEFORE INSERT ON notifications WHEN NEW.kind = 'hook_exhausted'
       BEGIN SELECT RAISE(ABORT, 'untold'); END`,
    );
    const id = await together('used', 1, { maxExecutions: 1 });
    const [odd] = await until(
      () => store.db.selectFrom('executions').selectAll().where('hook_id', '=', id).execute(),
      ([found]) => found?.attempts === 1,
    );
    await run('DROP TRIGGER untold');
    expect(odd?.status).to.equal('queued');
    expect((await desk.ask('GET', `/api/hooks/${id}`)).body.enabled).to.be.true();
    expect(await runsOf(id)).to.equal(0);
  });

  it('tries a run again by itself whose end cannot be written', async () => {
    const { store } = desk.test.app;
    const run = (sql: string) => store.transact([{ sql, parameters: [] }]);
    await run(
      `CREATE TRIGGER poison BEFORE INSERT ON notifications WHEN NEW.body = 'Got 3'
       BEGIN SELECT RAISE(ABORT, 'poison'); END`,
    );
    const id = await together('poison', 5, EXISTS);
    const rows = await until(
      () =>
        store.db
          .selectFrom('executions')
          .select(['status', 'attempts', 'run_at', 'created_at'])
          .where('hook_id', '=', id)
          .execute(),
      (all) => all.every(({ attempts }) => attempts === 1),
    );
    await run('DROP TRIGGER poison');
    const [odd, ...others] = rows.filter(({ status }) => status !== 'success');
    expect(others).to.equal([]);
    expect(odd?.status).to.equal('queued');
    expect(Date.parse(odd?.run_at ?? '') - Date.parse(odd?.created_at ?? '')).to.be.above(5000);
    expect((await notices()).toSorted()).to.equal(['Got 0', 'Got 1', 'Got 2', 'Got 4']);
  });

  it('does not repeat what was cut off before its hook became a notification', async () => {
    const id = await desk.hook({ ...onPath('became'), ...EXISTS });
    await desk.deliver('became', '{"n":1}');
    await desk.ended(id);
    const { db } = desk.test.app.store;
    const at = '2026-01-01T00:00:00.000Z';
    const cut = { action: 'execute_tool' as const, effect: 'begun' as const, run_at: at };
    await db
      .updateTable('executions')
      .set({ ...cut, status: 'running', attempts: 1, finished_at: null })
      .where('hook_id', '=', id)
      .execute();
    inside(desk.test.app).queue.added(id);
    const [run] = await until(
      () => desk.runs(id),
      ([found]) => found.status !== 'running',
    );
    expect(run).to.include({ status: 'interrupted', attempts: 1 });
    expect(await notices()).to.have.length(2);
  });

  it('leaves runs alone that ended meanwhile', async () => {
    const id = await held('stopped', 5, EXISTS);
    const { db } = desk.test.app.store;
    const { min } = await db
      .selectFrom('executions')
      .select(({ fn }) => fn.min('id').as('min'))
      .where('hook_id', '=', id)
      .executeTakeFirstOrThrow();
    const over = { status: 'skipped' as const, run_at: null, error: 'by hand' };
    await db.updateTable('executions').set(over).where('id', '=', min).execute();
    release(id);
    expect(await counts(id, 5)).to.equal({ success: 4, skipped: 1, error: 0 });
    expect(await notices()).to.have.length(4);
  });

  it('begins one by one where agents of the hook wait', async () => {
    const id = await desk.hook({ ...onPath('mixed'), ...EXISTS });
    const { db } = desk.test.app.store;
    const queue = inside(desk.test.app).queue;
    const at = new Date(Date.now() + 400).toISOString();
    const job = { kind: 'agent', ref: 'agent_gone', lane: id, run_at: at };
    await db.insertInto('jobs').values(job).execute();
    queue.delayed(id, at);
    for (const n of [1, 2, 3]) await desk.deliver('mixed', `{"n":${n}}`);
    expect(await counts(id, 3)).to.equal({ success: 3, skipped: 0, error: 0 });
    // No such agent exists, so its job is dropped when it is due.
    await until(
      () => db.selectFrom('jobs').select('ref').where('lane', '=', id).execute(),
      (jobs) => jobs.length === 0,
    );
    await until(
      async () => queue.isEmpty(id),
      (isEmpty) => isEmpty,
    );
  });

  it('reads what a tool without state needs once for all runs of a batch', async () => {
    const { db } = desk.test.app.store;
    const read: string[] = [];
    const { selectFrom }: { selectFrom(from: unknown): unknown } = Object(db);
    const tool = { action: 'execute_tool', actionConfig: { toolId: 'time', toolAction: 'now' } };
    const id = await desk.hook({ ...onPath('tools'), ...tool });
    hold(id);
    for (let n = 0; n < 20; n++) await desk.deliver('tools', JSON.stringify({ n }));
    Object.assign(db, {
      selectFrom: (from: unknown) => {
        read.push(String(from));
        return selectFrom.call(db, from);
      },
    });
    release(id);
    await untilMatches(() => inState(id, 'success'), 20);
    Object.assign(db, { selectFrom });
    expect(read.filter((from) => from.startsWith('credential_versions'))).to.equal([]);
    expect(read.filter((from) => from === 'permissions').length).to.equal(1);
  });

  it('waits where its tool has too much to do, and loses nothing', async () => {
    const { db } = desk.test.app.store;
    const toolParams = { text: 'Number {{webhook.body.n}}' };
    const tool = { toolId: 'knowledge', toolAction: 'index', toolParams };
    const id = await desk.hook({
      ...{ ...onPath('indexed'), action: 'execute_tool', actionConfig: tool },
    });
    const unended = (from: number) =>
      Array.from({ length: 1000 }, (_, n) => ({
        ...{ id: `operation_full${from + n}`, user_id: desk.owner.id, kind: 'knowledge.index' },
        ...{ resource_kind: 'knowledge', resource_id: 'knowledge_none', title: 'Full' },
        ...{ status: 'running' as const, input: '{}', checkpoint: null, result: null, error: null },
        ...{ progress: '{"done":0,"total":1,"unit":"chunks","note":null}' },
        ...{ created_at: AT, started_at: AT, finished_at: null },
      }));
    // As many as a user may have of this kind.
    for (let from = 0; from < 10_000; from += 1000) {
      await db.insertInto('operations').values(unended(from)).execute();
    }
    for (let n = 0; n < 20; n++) await desk.deliver('indexed', JSON.stringify({ n }));
    await timersFired(1500);
    // All of them are running while the tool refuses them again.
    await untilMatches(() => inState(id, 'queued'), 20);
    await db.deleteFrom('operations').where('title', '=', 'Full').execute();
    expect(await counts(id, 20)).to.equal({ success: 20, skipped: 0, error: 0 });
    const found = await db
      .selectFrom('executions')
      .select('attempts')
      .distinct()
      .where('hook_id', '=', id)
      .execute();
    expect(found).to.equal([{ attempts: 1 }]);
  });
});
