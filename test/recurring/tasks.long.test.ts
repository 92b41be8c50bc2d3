import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until, untilMatches } from '../harness/app.js';
import { type Desk, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { openTarget, type Target } from '../harness/target.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let clock: FrozenClock;
let desk: Desk;
let target: Target;
before(async () => {
  clock = frozenClock(Date.parse('2026-03-02T07:59:30.000Z'));
  target = await openTarget();
  desk = await openDesk({ clock, config: { tokenHours: 7200, egressAllow: [target.address] } });
});
after(async () => {
  await desk.test.stop();
  target.close();
});
beforeEach(() => desk.arrive());

const PATH = '/api/recurring-tasks';
const create = async (given: object = {}) =>
  desk.ask('POST', PATH, {
    title: 'standup',
    schedule: { cron: '0 8 * * *' },
    action: 'notify',
    actionConfig: { notifyMessage: 'Stand up.' },
    ...given,
  });
const made = async (given: object = {}): Promise<string> => {
  const { body, text, status } = await create(given);
  expect(status, text).to.equal(201);
  return body.id;
};
const get = async (id: string) => (await desk.ask('GET', `${PATH}/${id}`)).body;
const runsOf = async (id: string) => (await desk.ask('GET', `${PATH}/${id}/runs`)).body.runs;
const notices = async () => (await desk.ask('GET', '/api/notifications')).body.notifications;
const tick = async (): Promise<void> => {
  for (const source of inside(desk.test.app).recurring) await source.tick();
};
const tickAfter = (ms: number): Promise<void> => {
  clock.forward(ms);
  return tick();
};
const set = (at: string) => clock.forward(Date.parse(at) - clock.now());

/** Sets the clock to the next morning, half a minute before eight. */
const nextMorning = (days = 1): void => {
  const midnight = clock.now() - (clock.now() % DAY) + days * DAY;
  clock.forward(midnight + 8 * HOUR - 30_000 - clock.now());
};

/** What is wrong with a request, in which of its fields, and what is said about it. */
const FAULTS: [object, string, RegExp][] = [
  [{ schedule: { cron: '* * * *' } }, 'schedule.cron', /five fields/],
  [{ schedule: { cron: '0 * * * * *' } }, 'schedule.cron', /five fields/],
  [{ schedule: { cron: '61 * * * *' } }, 'schedule.cron', /"61" is not a valid minute \(0-59\)/],
  [{ schedule: { cron: '0 0 30 2 *' } }, 'schedule.cron', /matches a future time/],
  [{ schedule: {} }, 'schedule.cron', /is required/],
  [
    { schedule: { cron: '0 8 * * *', rrule: 'FREQ=DAILY' } },
    'schedule.cron',
    /exactly one of the two/,
  ],
  [{ schedule: { cron: '0 8 * * *', timezone: 'Mars' } }, 'schedule.timezone', /time zone/],
  [{ schedule: { rrule: 'FREQ=SECONDLY' } }, 'schedule.rrule', /MINUTELY/],
  [{ action: 'start_pipeline', actionConfig: {} }, 'actionConfig.templateId', /required/],
  [
    { action: 'start_pipeline', actionConfig: { templateId: 'x' } },
    'actionConfig.templateId',
    /^refers to an unknown template$/,
  ],
  [
    { action: 'start_pipeline', actionConfig: { templateId: 'preset_release_notes' } },
    'actionConfig.params.version',
    /required/,
  ],
  [
    { actionConfig: { agentPrompt: 'x', notifyMessage: 'y' } },
    'actionConfig.agentPrompt',
    /notify/,
  ],
  [{ actionConfig: {} }, 'actionConfig.notifyMessage', /required/],
  [
    { action: 'run_hook', actionConfig: { hookId: 'hook_x' } },
    'actionConfig.hookId',
    /refers to an unknown hook/,
  ],
  [{ endsAt: '2026-01-01T00:00:00.000Z' }, 'endsAt', /must leave at least one future due time/],
];

describe('a recurring task', () => {
  it('fires once at its time, however often one looks, and moves on', async () => {
    nextMorning();
    const id = await made();
    const dueAt = (await get(id)).nextRunAt;
    await tick();
    expect(await runsOf(id)).to.equal([]);
    clock.forward(30_000);
    await Promise.all([tick(), tick(), tick()]);
    await tick();
    const [run, ...others] = await runsOf(id);
    expect(others).to.equal([]);
    const [notice] = await notices();
    expect(run).to.include({ dueAt, status: 'success', error: null, notificationId: notice.id });
    expect(notice).to.include({ kind: 'recurring_notice', title: 'standup', body: 'Stand up.' });
    expect(notice.link).to.equal(`/recurring/${id}`);
    const task = await get(id);
    expect(task).to.include({ lastStatus: 'success', runCount: 1, lastRunAt: dueAt });
    expect(task.nextRunAt).to.equal(new Date(Date.parse(dueAt) + DAY).toISOString());
  });

  it('fires nothing again, and loses nothing, where the clock jumps by an hour', async () => {
    nextMorning();
    const id = await made({ schedule: { cron: '0 * * * *' }, missed: 'all' });
    await tickAfter(HOUR + 30_000);
    clock.shift(-HOUR);
    await tick();
    await desk.ask('PATCH', `${PATH}/${id}`, { schedule: { cron: '0 */1 * * *' } });
    await tick();
    expect(await runsOf(id)).to.have.length(2);
    await tickAfter(2 * HOUR);
    const dueTimes = (await runsOf(id)).map((run: { dueAt: string }) => run.dueAt);
    expect(new Set(dueTimes).size).to.equal(dueTimes.length);
    expect(dueTimes).to.have.length(3);
  });

  for (const [missed, statuses, reason] of [
    ['skip', ['skipped'], '4 due times were missed'],
    ['once', ['skipped', 'success'], '3 due times were missed'],
    ['all', ['success', 'success', 'success', 'success'], null],
  ] as const) {
    it(`does ${missed} about the times that it missed in three days`, async () => {
      nextMorning();
      const id = await made({ missed });
      await tickAfter(3 * DAY + HOUR);
      await tick();
      const runs = await runsOf(id);
      expect(runs.map(({ status }: { status: string }) => status)).to.equal(statuses);
      expect(runs[0].reason).to.equal(reason);
      expect((await get(id)).runCount).to.equal(
        statuses.filter((each) => each === 'success').length,
      );
    });
  }

  it('makes up for a hundred times at most, and says how many it skipped', async () => {
    nextMorning();
    const id = await made({ schedule: { cron: '* * * * *' }, missed: 'all' });
    await tickAfter(DAY);
    const { runCount, nextRunAt } = await get(id);
    expect(runCount).to.equal(100);
    expect(Date.parse(nextRunAt)).to.be.above(clock.now());
    expect((await runsOf(id))[0]).to.include({ reason: '1340 due times were missed' });
  });

  it('loses no time that has come to a change before it fires', async () => {
    nextMorning();
    const far = new Date(clock.now() + 9 * DAY).toISOString();
    for (const change of [{ endsAt: far }, { maxRuns: 5 }, { schedule: { cron: '0 9 * * *' } }]) {
      nextMorning();
      const id = await made();
      const dueAt = (await get(id)).nextRunAt;
      clock.forward(30_100);
      const { status } = await desk.ask('PATCH', `${PATH}/${id}`, change);
      await tick();
      const runs = await runsOf(id);
      expect([status, runs.map((run: { dueAt: string }) => run.dueAt)]).to.equal([200, [dueAt]]);
      expect(Date.parse((await get(id)).nextRunAt)).to.be.above(clock.now());
    }
  });

  it('runs nothing that waits any more once it is disabled', async () => {
    nextMorning();
    const stages = [{ key: 'ask', kind: 'approval', config: { message: 'Go?' } }];
    const template = { name: 'Queue', stages };
    const templateId = (await desk.ask('POST', '/api/pipelines/templates', template)).body.id;
    const actionConfig = { templateId };
    const id = await made({ action: 'start_pipeline', actionConfig, overlap: 'queue' });
    for (let count = 0; count < 3; count++) await desk.ask('POST', `${PATH}/${id}/run`);
    await desk.ask('PATCH', `${PATH}/${id}`, { enabled: false });
    const [{ id: run }] = (await desk.ask('GET', '/api/pipelines')).body.pipelines;
    await desk.ask('POST', `/api/pipelines/${run}/stop`);
    await tick();
    const statuses = (await runsOf(id)).map((each: { status: string }) => each.status);
    expect(statuses.sort()).to.equal(['error', 'skipped', 'skipped']);
    expect((await desk.ask('GET', '/api/pipelines')).body.pipelines).to.have.length(1);
  });

  it('ends after its runs, and at its end', async () => {
    nextMorning();
    const counted = await made({ maxRuns: 2, missed: 'all' });
    const endsAt = new Date(clock.now() + DAY + 30_000).toISOString();
    const ended = await made({ endsAt, missed: 'all' });
    await tickAfter(5 * DAY);
    for (const id of [counted, ended]) {
      expect(await get(id)).to.include({ runCount: 2, enabled: false, nextRunAt: null });
    }
    const again = await desk.ask('PATCH', `${PATH}/${counted}`, { enabled: true });
    expect(again.body.details).to.equal([
      { path: 'maxRuns', message: 'must be greater than the current number of runs (2)' },
    ]);
    const more = await desk.ask('PATCH', `${PATH}/${counted}`, { enabled: true, maxRuns: 3 });
    expect(more.body.enabled).to.be.true();
  });

  it('does nothing while it is disabled or its owner is, and makes up for nothing', async () => {
    nextMorning();
    const id = await made();
    const off = await desk.ask('PATCH', `${PATH}/${id}`, { enabled: false });
    expect(off.body).to.include({ enabled: false, nextRunAt: null });
    await tickAfter(DAY);
    await desk.ask('PATCH', `${PATH}/${id}`, { enabled: true });
    await tick();
    expect(await runsOf(id)).to.equal([]);
    const { db } = desk.test.app.store;
    const owner = db.updateTable('users').where('id', '=', desk.owner.id);
    await owner.set({ disabled_at: new Date(clock.now()).toISOString() }).execute();
    await tickAfter(DAY);
    await owner.set({ disabled_at: null }).execute();
    await tick();
    expect(await runsOf(id)).to.equal([]);
    expect(Date.parse((await get(id)).nextRunAt)).to.be.above(clock.now());
  });

  it('runs by hand, whatever its schedule', async () => {
    nextMorning();
    const id = await made();
    const { nextRunAt } = await get(id);
    const { status, body } = await desk.ask('POST', `${PATH}/${id}/run`);
    expect([status, body.status, body.dueAt]).to.equal([202, 'success', null]);
    expect(await get(id)).to.include({ nextRunAt, runCount: 0, lastStatus: 'success' });
  });

  it('tells the first failure of a series, and goes on', async () => {
    nextMorning();
    const hookId = await desk.hook();
    const id = await made({ action: 'run_hook', actionConfig: { hookId } });
    await desk.ask('POST', `/api/hooks/${hookId}/disable`);
    for (const _ of [1, 2]) {
      await tickAfter(DAY);
    }
    const failures = async () =>
      (await notices()).filter(({ kind }: { kind: string }) => kind === 'recurring_failed').length;
    expect(await failures()).to.equal(1);
    const { body: overview } = await desk.ask('GET', '/api/overview');
    expect(overview.needs).to.part.include([{ kind: 'recurring', id, title: 'standup' }]);
    expect(await get(id)).to.include({
      lastError: 'The hook issues is disabled. Enable the hook',
      enabled: true,
    });
    await desk.ask('POST', `/api/hooks/${hookId}/enable`);
    await desk.ask('POST', `${PATH}/${id}/run`);
    await desk.ended(hookId);
    await until(
      async () => {
        await tick();
        return get(id);
      },
      ({ lastStatus }) => lastStatus === 'success',
    );
    await desk.ask('POST', `/api/hooks/${hookId}/disable`);
    await tickAfter(DAY);
    expect(await failures()).to.equal(2);
  });

  it('makes a task that says where it comes from', async () => {
    nextMorning();
    const actionConfig = { priority: 2, tags: ['weekly'], dueInMinutes: 60 };
    const id = await made({ action: 'create_task', actionConfig });
    const { body: run } = await desk.ask('POST', `${PATH}/${id}/run`);
    expect(run.status).to.equal('success');
    const { body: task } = await desk.ask('GET', `/api/tasks/${run.taskId}`);
    expect(task).to.include({ title: 'standup', priority: 2, recurringTaskId: id });
    expect(task.dueAt).to.equal(new Date(clock.now() + HOUR).toISOString());
  });

  it('starts a pipeline, and is under way until that has ended', async () => {
    nextMorning();
    const stages = [{ key: 'ask', kind: 'approval', config: { message: 'For {{params.who}}?' } }];
    const parameters = [{ key: 'who', type: 'string', required: true }];
    const template = { name: 'Standup', stages, parameters };
    const { body: kept } = await desk.ask('POST', '/api/pipelines/templates', template);
    const config = { templateId: kept.id, params: { who: 'Grace' } };
    const id = await made({ action: 'start_pipeline', actionConfig: config });
    const { body: run } = await desk.ask('POST', `${PATH}/${id}/run`);
    expect(run.status).to.equal('running');
    const path = `/api/pipelines/${run.pipelineId}`;
    const { body: pipeline } = await until(
      () => desk.ask('GET', path),
      ({ body }) => body.status === 'waiting',
    );
    expect([pipeline.name, pipeline.untrusted]).to.equal(['standup', false]);
    const [asked] = pipeline.stages;
    expect(asked.input.message).to.equal('For Grace?');
    const busy = await desk.ask('POST', `${PATH}/${id}/run`);
    expect([busy.status, busy.body.code]).to.equal([409, 'run_under_way']);
    const { digest } = asked;
    await desk.ask('POST', `${path}/stages/ask/reject`, { digest, reason: 'Not today' });
    const ended = await until(
      () => tick().then(() => get(id)),
      ({ lastStatus }) => lastStatus === 'error',
    );
    expect(ended.lastError).to.equal('ask: rejected: Not today');
    await desk.ask('DELETE', `/api/pipelines/templates/${kept.id}`);
    const late = await desk.ask('POST', `${PATH}/${id}/run`);
    expect([late.body.status, late.body.error]).to.equal([
      'error',
      `Unknown pipeline template: ${kept.id}. Correct templateId in actionConfig`,
    ]);
  });

  it('runs a hook of its owner with its payload', async () => {
    nextMorning();
    const hookId = await desk.hook();
    const config = { hookId, payload: { n: 7 } };
    const id = await made({ action: 'run_hook', actionConfig: config });
    const { body } = await desk.ask('POST', `${PATH}/${id}/run`);
    const [execution] = await desk.ended(hookId);
    expect(execution).to.include({ id: body.executionId, result: { message: 'Got 7' } });
    expect(body.status).to.equal('running');
  });

  for (const [overlap, expected] of [
    ['skip', ['skipped', 'running']],
    ['queue', ['queued', 'running']],
  ] as const) {
    it(`does ${overlap} while a run is under way`, async () => {
      nextMorning();
      const held: ServerResponse[] = [];
      // Those of other tests go on.
      target.answer = (response, nth) => {
        if (target.received[nth - 1]?.path === `/${overlap}`) held.push(response);
        else response.end('fine');
      };
      const actionConfig = { webhookUrl: `${target.url}/${overlap}` };
      const hookId = await desk.hook({ action: 'webhook', actionConfig });
      const id = await made({ action: 'run_hook', actionConfig: { hookId }, overlap });
      await tickAfter(30_000);
      await untilMatches(async () => held.length, 1);
      await tickAfter(DAY);
      const statuses = (await runsOf(id)).map(({ status }: { status: string }) => status);
      expect(statuses).to.equal(expected);
      const { status } = await desk.ask('POST', `${PATH}/${id}/run`);
      expect(status).to.equal(overlap === 'skip' ? 409 : 202);
      target.answer = (response) => response.end('fine');
      held[0]?.end('fine');
      const over = await until(
        async () => {
          // Its forward may be tried again.
          await tickAfter(10_000);
          return runsOf(id);
        },
        (runs) =>
          runs.every(({ finishedAt }: { finishedAt: string | null }) => finishedAt !== null),
      );
      const ends = over.map((run: { status: string }) => run.status);
      const ran = ['success', 'success', 'success'];
      expect(ends).to.equal(overlap === 'skip' ? ['skipped', 'success'] : ran);
    });
  }

  it('loses nothing and repeats nothing over restarts', async () => {
    nextMorning();
    const id = await made({ missed: 'all' });
    for (const _ of [1, 2, 3]) {
      clock.forward(DAY);
      await desk.test.restart();
      await tick();
    }
    const dueTimes = (await runsOf(id)).map((run: { dueAt: string }) => run.dueAt);
    expect([dueTimes.length, new Set(dueTimes).size]).to.equal([3, 3]);
  });

  it('shows the next times of a schedule, and saves nothing', async () => {
    set('2026-10-24T12:00:00.000Z');
    await desk.arrive();
    const schedule = { cron: '30 2 * * *', timezone: 'Europe/Berlin' };
    const { status, body } = await desk.ask('POST', `${PATH}/preview`, { schedule, count: 2 });
    expect(status).to.equal(200);
    expect(body).to.equal({
      times: ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z'],
      timezone: 'Europe/Berlin',
      note: null,
    });
    expect((await desk.ask('GET', PATH)).body.recurringTasks).to.equal([]);
  });

  it('says which field is wrong', async () => {
    for (const [given, path, said] of FAULTS) {
      const { status, body } = await create(given);
      expect(status, path).to.equal(400);
      const found = body.details.find((detail: { path: string }) => detail.path === path);
      expect(found?.message, JSON.stringify(body)).to.match(said);
    }
  });

  it('is refused to a token that may not grant its tools', async () => {
    const action = 'spawn_agent';
    const actionConfig = { agentPrompt: 'x', agentTools: ['http.request'] };
    const granted = await create({ action, actionConfig });
    expect(granted.status).to.equal(201);
    const { token } = await makeToken(desk.test, desk.owner.token, {
      scopes: ['recurring-tasks:write'],
    });
    const schedule = { cron: '0 8 * * *' };
    const narrow = { token, body: { title: 'x', schedule, action, actionConfig } };
    const { status } = await desk.test.call('POST', PATH, narrow);
    expect(status).to.equal(403);
  });
});
