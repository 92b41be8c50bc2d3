import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until, untilMatches } from '../harness/app.js';
import { type Desk, notice, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let target: Target;
let clock: FrozenClock;
let desk: Desk;
before(async () => {
  target = await openTarget();
  clock = frozenClock();
  desk = await openDesk({ clock, config: { egressAllow: [target.address] } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});

const statuses = async (id: string, count: number) =>
  (await desk.ended(id, count)).map(({ status, error }) => [status, error]).toReversed();

describe('conditions', () => {
  it('skip a run and say which one did', async () => {
    const id = await desk.hook({
      ...onPath('picky'),
      conditions: [
        { field: 'event', operator: 'equals', value: 'issues' },
        { field: 'webhook.body.action', operator: 'in', value: ['opened', 'reopened'] },
      ],
    });
    const headers = { 'x-github-event': 'issues' };
    await desk.deliver('picky', '{"action":"opened"}', { headers });
    await desk.ended(id);
    await desk.deliver('picky', '{"action":"opened"}');
    await desk.ended(id, 2);
    await desk.deliver('picky', '{"action":"closed"}', { headers });
    expect(await statuses(id, 3)).to.equal([
      ['success', null],
      ['skipped', 'condition 1: event is missing'],
      ['skipped', 'condition 2: action is "closed", not in ["opened","reopened"]'],
    ]);
  });
});

describe('a pattern that takes for ever', () => {
  it('ends the run in error, at once', async () => {
    const id = await desk.hook({
      ...onPath('slow'),
      conditions: [{ field: 'webhook.body.t', operator: 'matches', value: '(a+)+$' }],
    });
    await desk.deliver('slow', `{"t":"${'a'.repeat(100)}b"}`);
    expect(await statuses(id, 1)).to.equal([
      ['error', 'condition 1: /(a+)+$/ takes more than 25 ms on this payload'],
    ]);
  });
});

describe('a condition’s value', () => {
  const condition = (operator: string, value: unknown) => ({
    conditions: [
      { field: 'event', operator: 'exists' },
      { field: 'webhook.body.t', operator, value },
    ],
  });
  const refusal = async (given: Record<string, unknown>) => {
    const { status, body } = await desk.ask('POST', '/api/hooks', notice(given));
    return [status, body.details];
  };
  const refused = (path: string, message: string) => [400, [{ path, message }]];

  it('has at most 4 KiB, a list at most 1,000 entries of that', async () => {
    const path = 'conditions.1.value';
    expect(await refusal(condition('contains', 'x'.repeat(4097)))).to.equal(
      refused(path, 'must be at most 4 KiB long'),
    );
    expect(await refusal(condition('in', Array(1001).fill('x')))).to.equal(
      refused(path, 'must be a list of at most 1000 entries'),
    );
    expect(await refusal(condition('matches', 'x'.repeat(301)))).to.equal(
      refused(path, 'must be a pattern of at most 300 characters'),
    );
    const large = { field: 'event', operator: 'in', value: Array(40).fill('x'.repeat(4096)) };
    expect(await refusal({ conditions: [large] })).to.equal(
      refused('conditions', 'must be at most 128 KiB of JSON in total'),
    );
    await desk.hook(condition('in', Array(1000).fill('x'.repeat(60))));
    await desk.hook(condition('contains', 'x'.repeat(4096)));
  });

  it('that was saved longer ends each run in error, and keeps no other change out', async () => {
    const id = await desk.hook(onPath('legacy'));
    const { conditions } = condition('contains', 'x'.repeat(200_000));
    const { store } = desk.test.app;
    await store.db
      .updateTable('hooks')
      .set({ conditions: JSON.stringify(conditions), updated_at: '2026-01-01T00:00:00.000Z' })
      .where('id', '=', id)
      .execute();
    const headers = { 'x-github-event': 'push' };
    await desk.deliver('legacy', '{"t":["a"]}', { headers });
    expect(await statuses(id, 1)).to.equal([
      ['error', 'condition 2: value must be at most 4 KiB long. Change the condition'],
    ]);
    expect((await desk.ask('PUT', `/api/hooks/${id}`, { name: 'other' })).status).to.equal(200);
    expect((await desk.ask('PUT', `/api/hooks/${id}`, { conditions })).status).to.equal(400);
  });
});

describe('cooldownMs', () => {
  it('skips what comes within it, counted from the last run that was not skipped', async () => {
    const id = await desk.hook({ ...onPath('cool'), cooldownMs: 60_000 });
    for (const [at, ms] of [0, 59_999, 0, 1, 59_999].entries()) {
      clock.forward(ms);
      await desk.deliver('cool', '{"n":1}');
      await desk.ended(id, at + 1);
    }
    const skipped = ['skipped', 'within the cooldown of 60000 ms'];
    expect(await statuses(id, 5)).to.equal([
      ['success', null],
      skipped,
      skipped,
      ['success', null],
      skipped,
    ]);
  });

  it('holds nobody up when the clock is set back', async () => {
    const id = await desk.hook({ ...onPath('back'), cooldownMs: 60_000 });
    await desk.deliver('back', '{"n":1}');
    await desk.ended(id);
    clock.shift(-3_600_000);
    await desk.deliver('back', '{"n":1}');
    const ended = await statuses(id, 2);
    clock.forward(3_600_000);
    expect(ended).to.equal([
      ['success', null],
      ['success', null],
    ]);
  });
});

describe('maxExecutions', () => {
  it('lets so many run, of many at once, then disables the hook and tells the owner', async () => {
    const id = await desk.hook({
      ...onPath('most'),
      name: 'thrice',
      maxExecutions: 3,
      concurrency: 10,
      conditions: [{ field: 'webhook.body.n', operator: 'gt', value: 0 }],
    });
    await desk.deliver('most', '{"n":0}');
    await desk.ended(id);
    await Promise.all(Array.from({ length: 8 }, () => desk.deliver('most', '{"n":1}')));
    const count = (await desk.runs(id)).length;
    const all = (await statuses(id, count)).map(([status]) => status);
    expect(all.filter((status) => status === 'success')).to.have.length(3);
    expect(all.filter((status) => status === 'skipped')).to.have.length(count - 3);

    const { body: hook } = await desk.ask('GET', `/api/hooks/${id}`);
    expect(hook.enabled).to.be.false();
    expect((await desk.deliver('most', '{"n":1}')).body.accepted).to.be.false();
    const { body } = await desk.ask('GET', '/api/notifications');
    const told = body.notifications.filter(
      ({ kind }: { kind: string }) => kind === 'hook_exhausted',
    );
    expect(told).to.have.length(1);
    expect(told[0]).to.include({
      title: 'thrice: disabled',
      body: 'The hook has reached its limit of 3 executions and is now disabled.',
      link: `/executions?hookId=${id}`,
    });
  });

  it('may be raised, and the hook goes on once it is enabled again', async () => {
    const id = await desk.hook({ ...onPath('more'), maxExecutions: 1 });
    await desk.deliver('more', '{"n":1}');
    await desk.ended(id);
    await desk.ask('PUT', `/api/hooks/${id}`, { maxExecutions: 2, enabled: true });
    expect((await desk.deliver('more', '{"n":1}')).status).to.equal(202);
    expect(await statuses(id, 2)).to.equal([
      ['success', null],
      ['success', null],
    ]);
  });
});

describe('concurrency', () => {
  it('is the hook’s own, or two; the rest waits and nothing is dropped', async () => {
    const waiting: (() => void)[] = [];
    let atOnce = 0;
    target.answer = (response) => {
      atOnce = Math.max(
        atOnce,
        waiting.push(() => response.end('fine')),
      );
    };
    const open = (ids: string[], count: number) =>
      until(
        async () => {
          for (const answer of waiting.splice(0)) answer();
          return (await Promise.all(ids.map(desk.runs))).flat();
        },
        (runs) => runs.filter(({ status }) => status === 'success').length === count,
      );
    for (const [concurrency, most] of [
      [1, 1],
      [null, 2],
      [4, 4],
    ] as const) {
      atOnce = 0;
      const path = `lanes-${most}`;
      const id = await desk.hook({
        ...onPath(path),
        concurrency,
        action: 'webhook',
        actionConfig: { webhookUrl: target.url },
      });
      await Promise.all(Array.from({ length: 9 }, () => desk.deliver(path, '{"n":1}')));
      await untilMatches(async () => atOnce, most);
      expect(inside(desk.test.app).queue.waiting(id)).to.equal(9 - most);
      await open([id], 9);
      expect(atOnce).to.equal(most);
    }
  });
});

describe('a hook that is deleted while its runs run', () => {
  it('leaves nothing behind: no run, no job, no error', async () => {
    target.received = [];
    const held: (() => void)[] = [];
    target.answer = (response) => held.push(() => response.end('fine'));
    const id = await desk.hook({
      ...onPath('doomed'),
      action: 'webhook',
      actionConfig: { webhookUrl: target.url },
    });
    for (let n = 0; n < 6; n++) await desk.deliver('doomed', '{"n":1}');
    await target.got(2);
    expect((await desk.ask('DELETE', `/api/hooks/${id}`)).status).to.equal(204);
    for (const answer of held) answer();
    const { queue } = inside(desk.test.app);
    queue.added(id, 0);
    await until(
      async () => queue.totals(),
      ({ running, waiting }) => running === 0 && waiting === 0,
    );
    expect(target.received).to.have.length(2);
    const all = desk.test.app.store.db.selectFrom('executions').select('id');
    const left = await all.where('hook_id', '=', id).execute();
    expect(left).to.equal([]);
    expect((await desk.deliver('doomed', '{"n":1}')).status).to.equal(404);
  });
});
