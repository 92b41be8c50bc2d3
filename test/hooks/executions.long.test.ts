import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

const list = async (id: string, query = '') =>
  (await desk.ask('GET', `/api/hooks/${id}/executions${query}`)).body;
const idsOf = (runs: { id: string }[]) => runs.map(({ id }) => id);
const listen = async (query: string) =>
  (await desk.ask('GET', `/api/hooks/executions${query}`)).body;

/** A hook with so many ended runs, newest first. */
const withRuns = async (path: string, count: number, given: object = {}) => {
  const id = await desk.hook({ ...onPath(path), ...given });
  const runs: string[] = [];
  for (let n = 1; n <= count; n++) {
    runs.unshift((await desk.deliver(path, `{"n":${n}}`)).body.executions[0]);
  }
  await desk.ended(id, count);
  return { id, runs };
};

describe('executions', () => {
  it('hold what fired them and what came of it', async () => {
    const id = await desk.hook(onPath('whole'));
    const headers = { 'x-github-event': 'push', 'x-note': 'kept' };
    const { body } = await desk.deliver('whole', '{"n":{"deep":[1,2]}}', { headers });
    const [run] = await desk.ended(id);
    const { triggerContext, createdAt, startedAt, finishedAt, durationMs, ...rest } = run;
    expect(rest).to.equal({
      id: body.executions[0],
      orgId: null,
      hookId: id,
      deliveryId: body.deliveryId,
      status: 'success',
      trigger: 'webhook',
      action: 'notify',
      result: { message: 'Got {"deep":[1,2]}' },
      error: null,
      attempts: 1,
      agentId: null,
      replayOf: null,
    });
    expect(triggerContext).to.include({ event: 'push', receivedAt: createdAt });
    expect(triggerContext.webhook).to.include({ path: 'whole', method: 'POST' });
    expect(triggerContext.webhook.body).to.equal({ n: { deep: [1, 2] } });
    expect(triggerContext.webhook.headers['x-note']).to.equal('kept');
    expect(durationMs).to.equal(Date.parse(finishedAt) - Date.parse(startedAt));
    const one = await desk.ask('GET', `/api/hooks/${id}/executions/${run.id}`);
    expect(one.body).to.equal(run);
    const { body: hook } = await desk.ask('GET', `/api/hooks/${id}`);
    expect(hook.stats).to.equal({
      executions: 1,
      lastExecutionAt: createdAt,
      lastStatus: 'success',
    });
  });

  it('are listed newest first, a page at a time', async () => {
    const { id, runs } = await withRuns('paged', 5);
    const first = await list(id, '?limit=2');
    expect(idsOf(first.executions)).to.equal(runs.slice(0, 2));
    const second = await list(id, `?limit=2&cursor=${first.nextCursor}`);
    expect(idsOf(second.executions)).to.equal(runs.slice(2, 4));
    const third = await list(id, `?limit=2&cursor=${second.nextCursor}`);
    expect([idsOf(third.executions), third.nextCursor]).to.equal([runs.slice(4), null]);
    expect(idsOf((await list(id)).executions)).to.equal(runs);
  });

  it('are listed by status', async () => {
    const conditions = [{ field: 'webhook.body.n', operator: 'gt', value: 2 }];
    const { id, runs } = await withRuns('filtered', 4, { conditions });
    expect(idsOf((await list(id, '?status=skipped')).executions)).to.equal(runs.slice(2));
    const page = await list(id, '?status=success&limit=1');
    expect(idsOf(page.executions)).to.equal(runs.slice(0, 1));
    const next = await list(id, `?status=success&limit=1&cursor=${page.nextCursor}`);
    expect([idsOf(next.executions), next.nextCursor]).to.equal([runs.slice(1, 2), null]);
    const { status } = await desk.ask('GET', `/api/hooks/${id}/executions?status=done`);
    expect(status).to.equal(400);
  });

  it('are cut into smaller pages where payloads are large, and none is left out', async () => {
    const id = await desk.hook(onPath('heavy'));
    const large = 'x'.repeat(1_500_000);
    const runs: string[] = [];
    for (let n = 0; n < 5; n++) {
      runs.unshift(
        (await desk.deliver('heavy', `{"n":${n},"large":"${large}"}`)).body.executions[0],
      );
    }
    await desk.deliver('heavy', `{"n":5,"large":"${'x'.repeat(4_190_000)}"}`);
    const sizes: number[] = [];
    const found: string[] = [];
    let cursor = '';
    while (cursor !== 'null') {
      const page = await list(id, `?limit=200${cursor && `&cursor=${cursor}`}`);
      sizes.push(page.executions.length);
      found.push(...idsOf(page.executions));
      cursor = String(page.nextCursor);
    }
    expect(sizes).to.equal([1, 2, 2, 1]);
    expect(found.slice(1)).to.equal(runs);

    const [oldest] = runs.slice(-1);
    const { executions, lastId } = await listen(`?after=${oldest}&limit=200`);
    expect(idsOf(executions)).to.equal([runs[3], runs[2]]);
    expect(lastId).to.equal(runs[2]);
    await desk.ended(id, 1);
  });

  it('are found under their own hook alone', async () => {
    const { runs } = await withRuns('own', 1);
    const other = await desk.hook(onPath('other'));
    const reply = await desk.ask('GET', `/api/hooks/${other}/executions/${runs[0]}`);
    expect([reply.status, reply.body.message]).to.equal([404, 'No execution with that id']);
  });
});

describe('listen', () => {
  it('begins at the newest, then gives what came after, oldest first', async () => {
    const { runs } = await withRuns('listened', 1);
    const now = await listen('');
    expect(now).to.equal({ executions: [], lastId: runs[0] });
    expect(await listen(`?after=${now.lastId}`)).to.equal(now);
    const { runs: more } = await withRuns('listened-too', 3);
    const next = await listen(`?after=${now.lastId}&limit=2`);
    expect(idsOf(next.executions)).to.equal([more[2], more[1]]);
    expect(next.lastId).to.equal(more[1]);
  });

  it('waits for one that is yet to come', async () => {
    await desk.hook(onPath('awaited'));
    const { lastId } = await listen('');
    const waiting = listen(`?after=${lastId}&wait=10`);
    const { body } = await desk.deliver('awaited', '{"n":1}');
    expect(idsOf((await waiting).executions)).to.equal(body.executions);
  });

  it('hears of one’s own runs only', async () => {
    const { token } = await desk.test.register('listener');
    await withRuns('unheard', 1);
    const of = (query: string) => desk.test.call('GET', `/api/hooks/executions${query}`, { token });
    expect((await of('')).body).to.equal({ executions: [], lastId: null });
    const none = await of('?after=execution_0&wait=0');
    expect(none.body).to.equal({ executions: [], lastId: 'execution_0' });
  });
});

describe('the executions of all hooks', () => {
  const recent = async (query = '') =>
    (await desk.ask('GET', `/api/hooks/executions/recent${query}`)).body;

  it('are listed newest first, a page at a time, with their hooks and without payloads', async () => {
    await desk.arrive();
    const first = await withRuns('all-first', 3);
    const second = await withRuns('all-second', 2, { name: 'second' });
    const third = await desk.deliver('all-first', '{"n":9}', {
      headers: { 'x-github-event': 'push' },
    });
    const [run] = await desk.ended(first.id, 4);
    const page = await recent('?limit=2');
    expect(page.executions[0]).to.equal({
      id: third.body.executions[0],
      orgId: null,
      hookId: first.id,
      hookName: 'issues',
      status: 'success',
      trigger: 'webhook',
      action: 'notify',
      event: 'push',
      error: null,
      attempts: 1,
      agentId: null,
      replayOf: null,
      createdAt: run.createdAt,
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
    });
    expect(page.executions[1].hookName).to.equal('second');
    const next = await recent(`?limit=3&cursor=${page.nextCursor}`);
    expect(idsOf(next.executions)).to.equal([second.runs[1], first.runs[0], first.runs[1]]);
    const last = await recent(`?limit=3&cursor=${next.nextCursor}`);
    expect([idsOf(last.executions), last.nextCursor]).to.equal([[first.runs[2]], null]);
  });

  it('are listed by status', async () => {
    await desk.arrive();
    const conditions = [{ field: 'webhook.body.n', operator: 'gt', value: 1 }];
    const { runs } = await withRuns('all-filtered', 3, { conditions });
    const { runs: others } = await withRuns('all-others', 1);
    const skipped = await recent('?status=skipped');
    expect(idsOf(skipped.executions)).to.equal(runs.slice(2));
    expect(skipped.executions[0].error).to.equal('condition 1: n is 1, not gt 1');
    expect(idsOf((await recent('?status=success')).executions)).to.equal([
      ...others,
      ...runs.slice(0, 2),
    ]);
  });

  it('are listed by hook, to its owner alone', async () => {
    await desk.arrive();
    const one = await withRuns('all-of-one', 3);
    await withRuns('all-of-another', 2);
    const query = `?hookId=${one.id}&limit=2`;
    const first = await recent(query);
    expect(idsOf(first.executions)).to.equal(one.runs.slice(0, 2));
    const rest = await recent(`${query}&cursor=${first.nextCursor}`);
    expect([idsOf(rest.executions), rest.nextCursor]).to.equal([one.runs.slice(2), null]);
    expect((await recent(`${query}&status=error`)).executions).to.equal([]);
    await desk.arrive();
    expect(await recent(query)).to.equal({ executions: [], nextCursor: null });
  });

  it('are found by their id alone, whole, and only by their owner', async () => {
    await desk.arrive();
    const { id, runs } = await withRuns('all-found', 1);
    const one = await desk.ask('GET', `/api/hooks/executions/${runs[0]}`);
    const [run] = await desk.runs(id);
    expect(one.body).to.equal(run);
    expect(run.triggerContext.webhook.body).to.equal({ n: 1 });
    await desk.arrive();
    const hidden = await desk.ask('GET', `/api/hooks/executions/${runs[0]}`);
    expect([hidden.status, hidden.body.message]).to.equal([404, 'No execution with that id']);
    expect(await recent()).to.equal({ executions: [], nextCursor: null });
  });
});
