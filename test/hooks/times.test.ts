import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, type Reply, until } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SECOND = 1000;
let target: Target;
let clock: FrozenClock;
let desk: Desk;
before(async () => {
  target = await openTarget();
  clock = frozenClock(Date.parse('2026-03-01T12:00:00.000Z'));
  desk = await openDesk({ clock, config: { egressAllow: [target.address] } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});

const at = (iso: string): void => clock.forward(Date.parse(iso) - clock.now());
const timesOf = ({ createdAt, startedAt, finishedAt, durationMs }: Reply['body']) => ({
  createdAt,
  startedAt,
  finishedAt,
  durationMs,
});

/** Fires the hook at the time; its action asks the target, which takes so long to answer. */
const runOf = async (path: string, given: object, [fired, tookMs]: [string, number]) => {
  const id = await desk.hook({ ...onPath(path), ...given });
  at(fired);
  target.answer = (response) => {
    clock.forward(tookMs);
    response.end('fine');
  };
  await desk.deliver(path, '{}');
  const [run] = await desk.ended(id);
  return run;
};

describe('the times of an execution', () => {
  it('of a forward tell how long its target took', async () => {
    const actionConfig = { webhookUrl: `${target.url}/sink` };
    const given = { action: 'webhook', actionConfig };
    const run = await runOf('forwarded', given, ['2026-03-01T13:00:00.000Z', 2_500]);
    expect(timesOf(run)).to.equal({
      createdAt: '2026-03-01T13:00:00.000Z',
      startedAt: '2026-03-01T13:00:00.000Z',
      finishedAt: '2026-03-01T13:00:02.500Z',
      durationMs: 2_500,
    });
  });

  it('of a tool tell how long the tool took', async () => {
    const toolParams = { method: 'GET', url: `${target.url}/sink` };
    const actionConfig = { toolId: 'http', toolAction: 'request', toolParams };
    const given = { action: 'execute_tool', actionConfig };
    const run = await runOf('asked', given, ['2026-03-01T14:00:00.000Z', 4_000]);
    expect(run.status).to.equal('success');
    expect(timesOf(run)).to.equal({
      createdAt: '2026-03-01T14:00:00.000Z',
      startedAt: '2026-03-01T14:00:00.000Z',
      finishedAt: '2026-03-01T14:00:04.000Z',
      durationMs: 4_000,
    });
  });

  it('of a forward that is tried again go from the first attempt to the last answer', async () => {
    const actionConfig = { webhookUrl: `${target.url}/sink` };
    const id = await desk.hook({ ...onPath('retried'), action: 'webhook', actionConfig });
    at('2026-03-01T15:00:00.000Z');
    target.answer = (response) => {
      clock.forward(SECOND);
      response.statusCode = 503;
      response.end();
    };
    await desk.deliver('retried', '{}');
    await until(
      () => desk.runs(id),
      ([run]) => run.error?.startsWith('The target replied with status 503'),
    );
    at('2026-03-01T15:01:00.000Z');
    target.answer = (response) => {
      clock.forward(3 * SECOND);
      response.end('fine');
    };
    inside(desk.test.app).queue.added(id, 0);
    const [run] = await desk.ended(id);
    expect(timesOf(run)).to.equal({
      createdAt: '2026-03-01T15:00:00.000Z',
      startedAt: '2026-03-01T15:00:00.000Z',
      finishedAt: '2026-03-01T15:01:03.000Z',
      durationMs: 63_000,
    });
  });

  it('of one that its hook’s own rules stopped say that it never started', async () => {
    const conditions = [{ field: 'webhook.body.n', operator: 'gt', value: 2 }];
    const given = { conditions };
    const run = await runOf('stopped', given, ['2026-03-01T16:00:00.000Z', 0]);
    expect(run.status).to.equal('skipped');
    expect(timesOf(run)).to.equal({
      createdAt: '2026-03-01T16:00:00.000Z',
      startedAt: null,
      finishedAt: '2026-03-01T16:00:00.000Z',
      durationMs: null,
    });
  });
});
