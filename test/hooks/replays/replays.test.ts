import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until } from '../../harness/app.js';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';
import { inside } from '../../harness/inside.js';
import { openTarget, type Target } from '../../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after } = lab;

const PATH = '/api/hooks/executions/replay';
const SINCE = '2026-01-01T00:00:00.000Z';

interface FailureOptions {
  /** The number in the first payload and delivery ID; those after it count up. */
  from?: number;
  count?: number;
  status?: 'error' | 'interrupted';
  effect?: 'done';
}

describe('the replay of failed executions', () => {
  let target: Target;
  let desk: Desk;
  let clock: FrozenClock;
  before(async () => {
    target = await openTarget();
    clock = frozenClock();
    desk = await openDesk({
      clock,
      config: { egressAllow: [target.address], drainSeconds: 0, registration: 'open' },
    });
  });
  beforeEach(() => desk.arrive());
  after(async () => {
    await desk.test.stop();
    target.close();
  });

  const db = () => desk.test.app.store.db;

  /** Runs the hook so often, a minute apart, and has it that the runs failed. */
  const failures = async (
    id: string,
    path: string,
    { from = 1, count = 1, ...as }: FailureOptions = {},
  ): Promise<string[]> => {
    const ids: string[] = [];
    for (let at = from; at < from + count; at++) {
      clock.forward(60_000);
      const headers = { 'x-github-delivery': `${path}-${at}` };
      const { body } = await desk.deliver(path, JSON.stringify({ n: at }), { headers });
      ids.push(...body.executions);
    }
    await until(
      () => db().selectFrom('executions').select('status').where('id', 'in', ids).execute(),
      (rows) => rows.every(({ status }) => status === 'success'),
    );
    const failed = { status: 'error' as const, effect: 'none' as const, error: 'it was down' };
    await db()
      .updateTable('executions')
      .set({ ...failed, ...as })
      .where('hook_id', '=', id)
      .where('id', 'in', ids)
      .execute();
    return ids;
  };

  const request = (body: object) => desk.ask('POST', PATH, { since: SINCE, ...body });
  const ended = async (id: string) => {
    const { body } = await until(
      () => desk.ask('GET', `/api/operations/${id}`),
      (reply) => !['queued', 'running'].includes(reply.body.status),
    );
    return body;
  };
  const replaysOf = async (ids: string[]) =>
    db()
      .selectFrom('executions')
      .select(['id', 'replay_of', 'delivery_id', 'status'])
      .where('replay_of', 'in', ids)
      .orderBy('id')
      .execute();

  it('lists what it would do, and does nothing', async () => {
    const a = await desk.hook({ name: 'a', ...onPath('listed-a') });
    const b = await desk.hook({ name: 'b', ...onPath('listed-b') });
    const [first] = await failures(a, 'listed-a', { count: 2 });
    const since = new Date(clock.now()).toISOString();
    await failures(b, 'listed-b', { status: 'interrupted' });
    const { status, body } = await request({ dryRun: true });
    const at = (minutes: number) => new Date(clock.now() - minutes * 60_000).toISOString();
    expect(status).to.equal(200);
    const { items, ...counts } = body;
    expect(counts).to.equal({
      ...{ count: 3, skipped: 0, oldest: at(2), newest: at(0), reasons: {}, listedAt: at(0) },
      parts: [
        { id: a, name: 'a', count: 2, skipped: 0, oldest: at(2), newest: at(1) },
        { id: b, name: 'b', count: 1, skipped: 0, oldest: at(0), newest: at(0) },
      ],
    });
    expect(items).to.have.length(3);
    expect(items[0]).to.equal({
      ...{ id: first, partId: a, status: 'error', error: 'it was down', skipped: null },
      createdAt: at(2),
    });
    const only = async (more: object) => (await request({ dryRun: true, ...more })).body.count;
    expect(await only({ hookId: b })).to.equal(1);
    expect(await only({ status: ['error'] })).to.equal(2);
    expect(await only({ since })).to.equal(2);
    expect(await only({ until: since })).to.equal(2);
    expect((await desk.ask('GET', '/api/operations')).body.operations).to.equal([]);
    expect(await replaysOf([first ?? ''])).to.equal([]);
  });

  it('replays each once, oldest first, and the end says how many', async () => {
    const id = await desk.hook(onPath('each'));
    const failed = await failures(id, 'each', { count: 5 });
    const { status, body } = await request({ hookId: id });
    expect(status).to.equal(202);
    expect(body).to.include({
      kind: 'hooks.replay',
      title: 'Replay of failed executions of issues',
    });
    expect(body.resource).to.equal({ kind: 'hook', id });
    const end = await ended(body.id);
    expect(end.status).to.equal('completed');
    expect(end.result).to.equal({ replayed: 5, skipped: 0, reasons: {} });
    expect(end.progress).to.equal({ done: 5, total: 5, unit: 'runs', note: '5 replayed' });
    const replays = await replaysOf(failed);
    expect(replays.map(({ replay_of }) => replay_of)).to.equal(failed);
    const runs = await desk.ended(id, 10);
    const found = runs.filter(({ replayOf }) => replayOf !== null);
    expect(found.map(({ result }) => result.message).sort()).to.equal(
      [1, 2, 3, 4, 5].map((n) => `Got ${n}`),
    );
    expect((await desk.ask('GET', `/api/hooks/${id}`)).body.stats.executions).to.equal(10);
  });

  it('waits for no cooldown, and says how many a hook that is used up leaves', async () => {
    const id = await desk.hook(onPath('slow'));
    await failures(id, 'slow', { count: 4 });
    await desk.ask('PUT', `/api/hooks/${id}`, { cooldownMs: 30_000 });
    const cooled = await ended((await request({ hookId: id })).body.id);
    expect(cooled.result).to.equal({ replayed: 4, skipped: 0, reasons: {} });
    const runs = await desk.ended(id, 8);
    expect(runs.map((run) => run.status)).to.equal([
      ...Array.from({ length: 4 }, () => 'success'),
      ...Array.from({ length: 4 }, () => 'error'),
    ]);
    const usedUp = await desk.hook({ ...onPath('used'), maxExecutions: 3 });
    await failures(usedUp, 'used', { count: 3 });
    const { body } = await request({ hookId: usedUp, dryRun: true });
    expect(body).to.include({ count: 0, skipped: 3, reasons: { exhausted: 3 } });
  });

  it('replays no more than a list has shown', async () => {
    const id = await desk.hook(onPath('shown'));
    const [shown, later] = await failures(id, 'shown', { count: 2 });
    const listed = (await request({ hookId: id, dryRun: true })).body.listedAt;
    clock.forward(1_000);
    const finished_at = new Date(clock.now()).toISOString();
    await db()
      .updateTable('executions')
      .set({ finished_at })
      .where('id', '=', later ?? '')
      .execute();
    const { body } = await request({ hookId: id, failedBy: listed });
    expect((await ended(body.id)).result.replayed).to.equal(1);
    const replays = await replaysOf([shown ?? '', later ?? '']);
    expect(replays.map(({ replay_of }) => replay_of)).to.equal([shown]);
  });

  it('does not replay twice, but a replay that failed', async () => {
    const id = await desk.hook(onPath('twice'));
    const failed = await failures(id, 'twice', { count: 2 });
    await ended((await request({})).body.id);
    const [first] = await replaysOf(failed);
    await desk.ended(id, 4);
    await db()
      .updateTable('executions')
      .set({ status: 'error', error: 'still down' })
      .where('id', '=', first?.id ?? '')
      .execute();
    const { body } = await request({});
    const { result } = await ended(body.id);
    expect(result).to.equal({ replayed: 1, skipped: 2, reasons: { replayed: 2 } });
    expect(await replaysOf([first?.id ?? ''])).to.have.length(1);
    expect(await replaysOf(failed)).to.have.length(2);
  });

  it('skips what its sender sent again, and effects that may be done unless forced', async () => {
    const id = await desk.hook({
      ...onPath('skipped'),
      action: 'webhook',
      actionConfig: { webhookUrl: target.url },
    });
    await failures(id, 'skipped', { effect: 'done' });
    const [, sentAgain] = await failures(id, 'skipped', { from: 2, count: 2 });
    // The same delivery id and body: it ended in error before any effect, so it runs again.
    const headers = { 'x-github-delivery': 'skipped-3' };
    const again = await desk.deliver('skipped', JSON.stringify({ n: 3 }), { headers });
    expect(again.status).to.equal(202);
    await desk.ended(id, 4);
    const { body } = await request({ dryRun: true, hookId: id });
    expect(body.reasons).to.include({ repeated: 1 });
    const reasonOf = (each: { id: string; skipped: string }) => [each.id, each.skipped];
    expect(body.items.map(reasonOf)).to.include([[sentAgain, 'repeated']]);
    expect(body.reasons.effect_done).to.equal(1);
    const forced = await request({ dryRun: true, hookId: id, force: true });
    expect(forced.body.reasons).to.equal({ repeated: 1 });
    const { result } = await ended((await request({ hookId: id, force: true })).body.id);
    expect(result.skipped).to.equal(1);
  });

  it('lets live deliveries go first: few replays wait at once', async () => {
    const held: ServerResponse[] = [];
    target.received.length = 0;
    target.answer = (response) => held.push(response);
    const id = await desk.hook({ ...onPath('paced'), concurrency: 1 });
    const failed = await failures(id, 'paced', { count: 40 });
    await desk.ask('PUT', `/api/hooks/${id}`, {
      action: 'webhook',
      actionConfig: { webhookUrl: target.url },
    });
    const { body } = await request({ hookId: id });
    const { queue } = inside(desk.test.app);
    await until(
      // One of them runs, beside those that wait.
      async () => (held.length === 1 ? queue.waiting(id) : 0),
      (waiting) => waiting >= 16,
    );
    const live = await desk.deliver('paced', '{"n":"live"}');
    expect(queue.waiting(id)).to.equal(17);
    expect((await desk.ask('GET', `/api/operations/${body.id}`)).body.status).to.equal('running');
    target.answer = (response) => response.end('fine');
    for (const response of held) response.end('fine');
    const { result } = await ended(body.id);
    expect(result.replayed).to.equal(40);
    await target.got(41);
    const order = target.received.map(({ headers }) => headers['webhook-id']);
    expect(order.indexOf(live.body.executions[0])).to.be.at.most(18);
    expect(new Set(order).size).to.equal(41);
    expect(await replaysOf(failed)).to.have.length(40);
  });

  it('ends at once when it is cancelled; what was replayed stays', async () => {
    const held: ServerResponse[] = [];
    target.answer = (response) => held.push(response);
    const id = await desk.hook({ ...onPath('cancelled'), concurrency: 1 });
    const failed = await failures(id, 'cancelled', { count: 30 });
    await desk.ask('PUT', `/api/hooks/${id}`, {
      action: 'webhook',
      actionConfig: { webhookUrl: target.url },
    });
    const { body } = await request({ hookId: id });
    await until(
      () => desk.ask('GET', `/api/operations/${body.id}`),
      (reply) => reply.body.progress.done >= 16,
    );
    const cancelled = await desk.ask('POST', `/api/operations/${body.id}/cancel`);
    expect(cancelled.body.status).to.equal('cancelled');
    target.answer = (response) => response.end('fine');
    for (const response of held) response.end('fine');
    const done = (await replaysOf(failed)).length;
    expect(done).to.be.between(15, 30);
    await until(
      () => replaysOf(failed),
      (rows) => rows.every(({ status }) => status === 'success'),
    );
    expect(await replaysOf(failed)).to.have.length(done);
  });

  it('replays no hook whose runs failed only after the request', async () => {
    const held: ServerResponse[] = [];
    target.answer = (response) => held.push(response);
    const busy = await desk.hook({ ...onPath('busy'), concurrency: 1 });
    await failures(busy, 'busy', { count: 30 });
    await desk.ask('PUT', `/api/hooks/${busy}`, {
      action: 'webhook',
      actionConfig: { webhookUrl: target.url },
    });
    const first = await request({ hookId: busy });
    await until(
      () => desk.ask('GET', `/api/operations/${first.body.id}`),
      (reply) => reply.body.progress.done >= 16,
    );
    const [early, late] = [await desk.hook(onPath('early')), await desk.hook(onPath('late'))];
    const failedEarly = await failures(early, 'early');
    const failedLate = await failures(late, 'late');
    const becomes = (status: 'success' | 'error') =>
      db().updateTable('executions').set({ status }).where('id', 'in', failedLate).execute();
    await becomes('success');
    const { body } = await request({});
    expect(body.status).to.equal('queued');
    await becomes('error');
    target.answer = (response) => response.end('fine');
    for (const response of held) response.end('fine');
    expect((await ended(body.id)).status).to.equal('completed');
    expect(
      [await replaysOf(failedEarly), await replaysOf(failedLate)].map((all) => all.length),
    ).to.equal([1, 0]);
  });

  it('records who began it, and that something was only listed', async () => {
    const id = await desk.hook(onPath('audited'));
    await failures(id, 'audited');
    await request({ hookId: id, dryRun: true });
    await ended((await request({ hookId: id })).body.id);
    const rows = await db()
      .selectFrom('audit')
      .select(['action', 'data'])
      .where('actor_id', '=', desk.owner.id)
      .where('action', '=', 'hooks.replay')
      .orderBy('number')
      .execute();
    const data = rows.map((row) => JSON.parse(row.data ?? ''));
    expect(data.map(({ hookId, count, dryRun }) => [hookId, count, dryRun])).to.equal([
      [id, 1, true],
      [id, 1, undefined],
    ]);
  });

  it('refuses a hook of somebody else, and what is no time', async () => {
    const id = await desk.hook(onPath('theirs'));
    await desk.arrive();
    const { status, body } = await request({ hookId: id });
    expect([status, body.message]).to.equal([404, 'No hook with that id']);
    expect((await desk.ask('POST', PATH, {})).body.details[0].path).to.equal('since');
    expect((await request({ since: 'yesterday' })).status).to.equal(400);
    expect((await request({ status: ['success'] })).status).to.equal(400);
  });
});
