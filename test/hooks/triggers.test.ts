import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { buildConversation } from '../../src/agents/context.js';
import { readPrompt } from '../../src/providers/llm/prompt.js';
import type { HookRow } from '../../src/store/tables/hooks.js';
import { type FrozenClock, frozenClock } from '../harness/app.js';
import { type Desk, onPath, openDesk, SECRET } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const HOUR = 3_600_000;
let clock: FrozenClock;
let desk: Desk;
before(async () => {
  clock = frozenClock(Date.parse('2026-03-27T07:59:30.000Z'));
  desk = await openDesk({ clock, config: { tokenHours: 720 } });
});
after(() => desk.test.stop());
afterEach(async () => {
  const { body } = await desk.ask('GET', '/api/hooks');
  for (const { id } of body.hooks) await desk.ask('DELETE', `/api/hooks/${id}`);
});

const scheduled = (cron: string, timezone?: string) =>
  desk.hook({
    trigger: 'schedule',
    triggerConfig: { cron, ...(timezone !== undefined && { timezone }) },
    actionConfig: { notifyMessage: '{{event}} of {{hook.name}}' },
  });
const nextOf = async (id: string) =>
  (await desk.ask('GET', `/api/hooks/${id}`)).body.triggerConfig.nextRunAt;
const tick = () => inside(desk.test.app).schedules.tick();
const set = (at: string) => clock.forward(Date.parse(at) - clock.now());

describe('a schedule', () => {
  it('fires once at its time, however often one looks', async () => {
    const id = await scheduled('0 8 * * *', 'UTC');
    expect(await nextOf(id)).to.equal('2026-03-27T08:00:00.000Z');
    await tick();
    expect(await desk.runs(id)).to.equal([]);
    set('2026-03-27T08:00:00.000Z');
    await Promise.all([tick(), tick(), tick()]);
    await tick();
    const [run, ...others] = await desk.ended(id);
    expect(others).to.equal([]);
    expect(run).to.include({ status: 'success', trigger: 'schedule', deliveryId: null });
    expect(run.triggerContext).to.equal({
      event: 'schedule',
      scheduledAt: '2026-03-27T08:00:00.000Z',
      receivedAt: '2026-03-27T08:00:00.000Z',
    });
    expect(run.result).to.equal({ message: 'schedule of issues' });
    expect(await nextOf(id)).to.equal('2026-03-28T08:00:00.000Z');
  });

  it('has no next time while its hook is disabled', async () => {
    const id = await scheduled('0 8 * * *', 'UTC');
    const next = await nextOf(id);
    await desk.ask('POST', `/api/hooks/${id}/disable`);
    expect([next === null, await nextOf(id)]).to.equal([false, null]);
    await desk.ask('POST', `/api/hooks/${id}/enable`);
    expect(await nextOf(id)).to.equal(next);
  });

  it('keeps to its time zone over the change of the clocks', async () => {
    set('2026-03-28T12:00:00.000Z');
    const id = await scheduled('0 9 * * *', 'Europe/Berlin');
    expect(await nextOf(id)).to.equal('2026-03-29T07:00:00.000Z');
    const before = await scheduled('0 9 28 3 *', 'Europe/Berlin');
    expect(await nextOf(before)).to.equal('2027-03-28T07:00:00.000Z');
    const winter = await scheduled('0 9 1 12 *', 'Europe/Berlin');
    expect(await nextOf(winter)).to.equal('2026-12-01T08:00:00.000Z');
  });

  it('that was missed runs once if it is under an hour late', async () => {
    set('2026-04-01T00:00:30.000Z');
    const id = await scheduled('*/10 * * * *', 'UTC');
    clock.forward(HOUR);
    await desk.test.restart();
    await tick();
    const runs = await desk.ended(id);
    expect(runs.map(({ status }) => status)).to.equal(['success']);
    expect(runs[0].triggerContext.scheduledAt).to.equal('2026-04-01T00:10:00.000Z');
    expect(await nextOf(id)).to.equal('2026-04-01T01:10:00.000Z');
  });

  it('that was missed by over an hour is skipped, and says so', async () => {
    set('2026-04-02T00:00:30.000Z');
    const id = await scheduled('0 8 * * *', 'UTC');
    set('2026-04-02T09:00:00.001Z');
    await tick();
    const [run, ...others] = await desk.ended(id);
    expect(others).to.equal([]);
    expect(run).to.include({
      status: 'skipped',
      error: 'more than an hour late because the daemon was not running',
      startedAt: null,
      finishedAt: '2026-04-02T09:00:00.001Z',
    });
    expect(await nextOf(id)).to.equal('2026-04-03T08:00:00.000Z');
    const all = desk.test.app.store.db.selectFrom('executions').select('id');
    expect(await all.where('run_at', 'is not', null).execute()).to.equal([]);
  });

  it('that was off does not make up for it', async () => {
    set('2026-04-04T00:00:30.000Z');
    const id = await scheduled('0 8 * * *', 'UTC');
    await desk.ask('POST', `/api/hooks/${id}/disable`);
    set('2026-04-04T08:10:00.000Z');
    await tick();
    await desk.ask('POST', `/api/hooks/${id}/enable`);
    await tick();
    expect(await desk.runs(id)).to.equal([]);
    expect(await nextOf(id)).to.equal('2026-04-05T08:00:00.000Z');
  });

  it('that is due is not lost to a change of something else', async () => {
    set('2026-04-06T00:00:30.000Z');
    const id = await scheduled('0 8 * * *', 'UTC');
    set('2026-04-06T08:00:00.000Z');
    await desk.ask('PUT', `/api/hooks/${id}`, { name: 'renamed' });
    await desk.ask('POST', `/api/hooks/${id}/enable`);
    await tick();
    expect(await desk.ended(id)).to.have.length(1);
    await desk.ask('PUT', `/api/hooks/${id}`, { triggerConfig: { cron: '30 8 * * *' } });
    expect(await nextOf(id)).to.not.equal('2026-04-07T08:00:00.000Z');
  });
});

describe('the prompt of an agent', () => {
  const places: Record<HookRow['trigger'], object> = {
    webhook: { webhookPath: 'marked', webhookSecret: SECRET },
    schedule: { cron: '0 8 * * *' },
    agent_completed: {},
    agent_failed: {},
    approval_requested: {},
    email: {},
  };

  it('has its untrusted part below a line that the system text names', async () => {
    const { id: agentId } = (await desk.ask('POST', '/api/agents', { prompt: 'Say it' })).body;
    const row = await desk.test.app.store.db
      .selectFrom('agents')
      .selectAll()
      .where('id', '=', agentId)
      .executeTakeFirstOrThrow();
    const models = { room: () => 100_000 };
    const agent = { userId: desk.owner.id, model: 'digest', topic: null, isUntrusted: false };
    const wanted = { ...agent, barred: () => null };
    const context = { rows: [], memories: [], now: clock.now(), timezone: 'UTC', tools: [] };
    const { turns } = buildConversation(models, row, { ...context, wanted });
    const [system] = turns;
    const lines: string[] = [];
    for (const [trigger, triggerConfig] of Object.entries(places)) {
      const id = await desk.hook({
        ...{ name: trigger, trigger, triggerConfig },
        ...{ action: 'spawn_agent', actionConfig: { agentPrompt: 'Look' } },
      });
      const tried = { payload: { subject: 'x' }, dryRun: true };
      const { prompt } = (await desk.ask('POST', `/api/hooks/${id}/test`, tried)).body.rendered;
      const [line = 'no line'] = /^--- .+ ---$/m.exec(prompt) ?? [];
      expect(system?.content, trigger).to.contain(`"${line}"`);
      expect(readPrompt(prompt)).to.include({ task: 'Look', payload: '{"subject":"x"}' });
      lines.push(line);
    }
    expect([...new Set(lines)]).to.equal(['--- Webhook Payload ---', '--- E-mail ---']);
  });
});

describe('the end of an agent', () => {
  const onEnd = (trigger: string, given: object = {}) =>
    desk.hook({
      name: trigger,
      trigger,
      triggerConfig: {},
      actionConfig: { notifyMessage: '{{event}}: {{agent.result}}' },
      ...given,
    });
  const spawn = async (body: object = {}) =>
    (await desk.ask('POST', '/api/agents', { prompt: 'Say it', ...body })).body;

  it('fires the hooks of that end, with what the agent said', async () => {
    const [completed, failed] = [await onEnd('agent_completed'), await onEnd('agent_failed')];
    const agent = await spawn();
    const [run] = await desk.ended(completed);
    const { body } = await desk.ask('GET', `/api/agents/${agent.id}`);
    expect(run.triggerContext).to.equal({
      event: 'agent.completed',
      agent: { id: agent.id, name: agent.name, result: body.result, error: null },
      receivedAt: run.createdAt,
    });
    expect(run.result).to.equal({ message: `agent.completed: ${body.result}` });
    expect(await desk.runs(failed)).to.equal([]);
  });

  it('fires nobody else’s hooks, and none that is disabled', async () => {
    const { token } = await desk.test.register('neighbour');
    const off = await onEnd('agent_completed', { enabled: false });
    const on = await onEnd('agent_completed');
    await desk.test.call('POST', '/api/agents', { token, body: { prompt: 'Say it' } });
    await spawn();
    expect(await desk.ended(on)).to.have.length(1);
    expect(await desk.runs(off)).to.equal([]);
  });

  it('never goes round in a circle', async () => {
    const spawning = { action: 'spawn_agent', actionConfig: { agentPrompt: 'And again' } };
    const one = await onEnd('agent_completed', spawning);
    const two = await onEnd('agent_completed', spawning);
    const last = await onEnd('agent_completed');
    await spawn();
    for (const id of [one, two, last]) {
      const [run] = await desk.ended(id);
      expect(run.status).to.equal('success');
    }
    for (const id of [one, two, last]) expect(await desk.runs(id)).to.have.length(1);
  });

  it('hands its result to an agent as a payload', async () => {
    const id = await onEnd('agent_completed', {
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'Check it' },
    });
    const agent = await spawn();
    const [run] = await desk.ended(id);
    const { body } = await desk.ask('GET', `/api/agents/${run.agentId}`);
    const [head, payload, ...rest] = body.prompt.split('\n\n--- Webhook Payload ---\n');
    expect([head, rest]).to.equal(['Check it', []]);
    expect(JSON.parse(payload.split('\nEvent type: ')[0]).agent.id).to.equal(agent.id);
    expect(body.prompt).to.match(/\nEvent type: agent\.completed$/);
  });

  it('comes about even where such a hook is deleted at the same moment', async () => {
    for (let n = 0; n < 5; n++) {
      const id = await onEnd('agent_completed');
      const [agent] = await Promise.all([spawn(), desk.ask('DELETE', `/api/hooks/${id}`)]);
      const hook = await desk.hook(onPath(`after-${n}`));
      await desk.deliver(`after-${n}`, '{"n":1}');
      await desk.ended(hook);
      const { body } = await desk.ask('GET', `/api/agents/${agent.id}`);
      expect(['queued', 'running', 'completed']).to.include(body.status);
    }
  });
});
