import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Stage, startStage } from '../../agents/stage.js';
import { until } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { says } from '../../harness/openai.js';
import { type Disabling, openDisabling } from './disabling.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const SECRET = 'open sesame';

describe('a user who is disabled', () => {
  let site: Disabling;
  let stage: Stage;
  let hook: string;
  before(async () => {
    site = await openDisabling();
    ({ stage } = site);
    hook = await newHook('said');
  });
  after(() => stage.stop());

  const newHook = async (name: string, more: object = {}): Promise<string> => {
    const { body } = await site.asBob('POST', '/api/hooks', {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: SECRET },
      action: 'notify',
      actionConfig: { notifyMessage: 'Hello' },
      ...more,
    });
    return body.id;
  };
  const deliver = (id = hook, body: object = { a: 1 }, secret = SECRET) =>
    stage.call('POST', `/api/hooks/incoming/${id}`, {
      headers: { 'x-webhook-secret': secret },
      body,
    });

  it('is out: agents, sockets, sessions, tokens', async () => {
    await site.disableAtWork();
  });

  it('has hooks that count as disabled', async () => {
    const before = await site.counted();
    const { status, body } = await deliver();
    expect([status, body]).to.equal([200, { received: true, accepted: false, hooks: 0 }]);
    expect((await deliver(hook, {}, 'wrong')).status).to.equal(401);
    expect(await site.counted()).to.equal(before);
  });

  it('comes back as before, without the old sessions and tokens', async () => {
    const old = site.bob.token;
    await site.disable(false);
    expect((await stage.call('GET', '/api/auth/me', { token: old })).status).to.equal(401);
    expect(await site.login()).to.equal(200);
    const tokens = (await site.asBob('GET', '/api/auth/tokens')).body.tokens;
    expect(tokens.map(({ name }: { name: string }) => name)).to.equal(['ci']);
    expect((await deliver()).status).to.equal(202);
    stage.model.script(says({ text: 'Back.' }));
    const { id } = (await site.asBob('POST', '/api/agents', { prompt: 'Speak' })).body;
    const ended = await until(
      () => inside(stage.app).rows.byId(id),
      (row) => row?.status !== 'queued' && row?.status !== 'running',
    );
    expect(ended?.status).to.equal('completed');
  });

  it('has nothing run that was queued before', async () => {
    const { db } = stage.app.store;
    const execution = (await deliver(hook, { b: 2 })).body.executions[0];
    const row = () =>
      db
        .selectFrom('executions')
        .select(['status', 'error'])
        .where('id', '=', execution)
        .executeTakeFirstOrThrow();
    await until(row, ({ status }) => status === 'success');
    // As it would be found by a daemon that was killed right after the disabling.
    const at = '2026-01-01T00:00:00.000Z';
    await db
      .updateTable('executions')
      .set({ status: 'queued', started_at: null, finished_at: null, run_at: at })
      .where('id', '=', execution)
      .execute();
    await db.updateTable('users').set({ disabled_at: at }).where('id', '=', site.bob.id).execute();
    inside(stage.app).queue.added(hook);
    expect(await until(row, ({ status }) => status !== 'queued')).to.equal({
      status: 'skipped',
      error: "the owner's account is disabled",
    });
    await site.disable(false);
  });

  it('has schedules whose times pass', async () => {
    const { db } = stage.app.store;
    const daily = await newHook('daily', {
      trigger: 'schedule',
      triggerConfig: { cron: '0 9 * * *' },
    });
    await site.disable();
    for (const due of [60_000, 2 * 24 * 3600 * 1000]) {
      const next_run_at = new Date(Date.now() - due).toISOString();
      await db.updateTable('hooks').set({ next_run_at }).where('id', '=', daily).execute();
      await inside(stage.app).schedules.tick();
      const row = await db
        .selectFrom('hooks')
        .select(['next_run_at', 'executions'])
        .where('id', '=', daily)
        .executeTakeFirstOrThrow();
      expect(Date.parse(row.next_run_at ?? '')).to.be.above(Date.now());
      expect(row.executions).to.equal(0);
    }
    await site.disable(false);
    await site.login();
  });

  it('has no agent begin that came in at that moment', async () => {
    await site.login();
    await site.disable();
    const { control, rows } = inside(stage.app);
    const { id } = await control.spawn({
      userId: site.bob.id,
      prompt: 'Late',
      model: 'fake',
      channel: 'api',
      untrusted: false,
      lane: site.bob.id,
    });
    const row = await until(
      () => rows.byId(id),
      (agent) => agent?.status !== 'queued',
    );
    expect([row?.status, row?.error, row?.steps]).to.equal([
      'failed',
      'the account of its owner is disabled',
      0,
    ]);
    await site.disable(false);
  });
});

describe('what an admin grants', () => {
  let stage: Stage;
  let bob: { id: string; token: string };
  before(async () => {
    stage = await startStage({ modelInputPrice: 1000 });
    bob = await stage.register('bob');
  });
  after(() => stage.stop());

  const patch = (body: object) => stage.ask('PATCH', `/api/admin/users/${bob.id}`, body);
  const speak = async (): Promise<{ status?: string; error?: string | null }> => {
    const { body } = await stage.call('POST', '/api/agents', {
      token: bob.token,
      body: { prompt: 'Speak', limits: { maxCostUsd: 100 } },
    });
    const row = await until(
      () => inside(stage.app).rows.byId(body.id),
      (agent) => agent?.status === 'completed' || agent?.status === 'failed',
    );
    return { status: row?.status, error: row?.error };
  };
  const usage = { input: 100, output: 0 };

  it('is what the agents of the user may cost a day', async () => {
    await patch({ limits: { dailyCostUsd: 0.000001 } });
    expect(await speak()).to.equal({
      status: 'failed',
      error: 'the daily limit of 0.000001 USD is reached',
    });
    await patch({ limits: { dailyCostUsd: 50 } });
    stage.model.script(says({ text: 'Fine.', usage }));
    expect(await speak()).to.equal({ status: 'completed', error: null });
  });

  it('is how many tokens they may use a day', async () => {
    await patch({ limits: { dailyTokens: 150 } });
    expect(await speak()).to.equal({
      status: 'failed',
      error: 'the daily limit of 150 tokens is reached',
    });
    await patch({ limits: { dailyTokens: null } });
    stage.model.script(says({ text: 'Fine.', usage }));
    expect(await speak()).to.equal({ status: 'completed', error: null });
  });

  it('is whether they may use the shell, whatever the role', async () => {
    const { permissionsOf } = inside(stage.app);
    const may = async (id: string) => (await permissionsOf(id)).may('shell');
    const asked = async () => Promise.all([may(bob.id), may(stage.userId)]);
    const before = await asked();
    await patch({ permissions: { shell: true } });
    await stage.ask('PATCH', `/api/admin/users/${stage.userId}`, { permissions: { shell: false } });
    const after = await asked();
    await patch({ permissions: { shell: null } });
    expect([before, after, await asked()]).to.equal([
      [false, true],
      [true, false],
      [false, false],
    ]);
  });
});
