import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock } from '../harness/app.js';
import { type Desk, notice, onPath, openDesk, SECRET } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const NOW = '2026-03-01T12:00:00.000Z';
let desk: Desk;
let stranger: { token: string };
before(async () => {
  desk = await openDesk({ clock: frozenClock() });
  stranger = await desk.test.register('stranger');
});
after(() => desk.test.stop());

const get = async (id: string) => (await desk.ask('GET', `/api/hooks/${id}`)).body;
const put = (id: string, body: unknown) => desk.ask('PUT', `/api/hooks/${id}`, body);
const faultsOf = (body: { details: { path: string }[] }) => body.details.map(({ path }) => path);

describe('hooks', () => {
  it('are refused where they name a field that no e-mail has', async () => {
    const given = (notifyMessage: string, field: string) => ({
      ...{ name: 'mail', trigger: 'email', triggerConfig: {}, action: 'notify' },
      actionConfig: { notifyMessage },
      conditions: [{ field, operator: 'exists', value: true }],
    });
    const known = given('{{ email.subject }} {{email.to[0]}}', 'email.authentication.dkim');
    expect((await desk.ask('POST', '/api/hooks', known)).status).to.equal(201);
    for (const field of ['category', 'email.sbject']) {
      const { status, body } = await desk.ask(
        'POST',
        '/api/hooks',
        given('{{email.sbject}}', field),
      );
      expect([status, faultsOf(body)]).to.equal([
        ...[400, ['actionConfig.notifyMessage', 'conditions.0.field']],
      ]);
      expect(body.details[0].message).to.include(
        'contains the unknown placeholder {{email.sbject}}. The fields are email.id, email.accountId, ',
      );
    }
  });

  it('are deleted with all that they have run, however much it is', async () => {
    const { id } = (await desk.ask('POST', '/api/hooks', notice({ name: 'large' }))).body;
    const { store } = desk.test.app;
    const sql = `WITH RECURSIVE n (value) AS
        (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2500)
      INSERT INTO executions (id, hook_id, user_id, trigger, action, status, created_at)
      SELECT 'execution_' || value, @id, @user, 'webhook', 'notify', 'success', @at FROM n`;
    await store.transact([{ sql, parameters: [{ id, user: desk.owner.id, at: NOW }] }]);
    const left = () =>
      store.db
        .selectFrom('executions')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('hook_id', '=', id)
        .executeTakeFirstOrThrow();
    expect((await left()).count).to.equal(2500);
    const { token } = stranger;
    expect((await desk.test.call('DELETE', `/api/hooks/${id}`, { token })).status).to.equal(404);
    expect((await left()).count).to.equal(2500);
    expect((await desk.ask('DELETE', `/api/hooks/${id}`)).status).to.equal(204);
    expect((await left()).count).to.equal(0);
    expect((await desk.ask('GET', `/api/hooks/${id}`)).status).to.equal(404);
  });

  it('are created whole, with what was left out at its default', async () => {
    const { status, body } = await desk.ask('POST', '/api/hooks', notice());
    expect(status).to.equal(201);
    expect(body.id).to.match(/^hook_[0-9a-z]{26}$/);
    const { id, ...hook } = body;
    expect(hook).to.equal({
      orgId: null,
      name: 'issues',
      description: null,
      trigger: 'webhook',
      triggerConfig: { webhookPath: 'issues', webhookSecretSet: true },
      action: 'notify',
      actionConfig: { notifyMessage: 'Got {{webhook.body.n}}' },
      enabled: true,
      conditions: [],
      concurrency: null,
      cooldownMs: 0,
      maxExecutions: null,
      limits: null,
      stats: { executions: 0, lastExecutionAt: null, lastStatus: null },
      createdAt: NOW,
      updatedAt: NOW,
    });
    expect(await get(id)).to.equal(body);
    expect(JSON.stringify(body)).to.not.contain(SECRET);
  });

  it('are listed newest first, a page at a time, and by trigger and action', async () => {
    const { token } = await desk.test.register('lister');
    const ask = (path: string) => desk.test.call('GET', path, { token });
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const given = name === 'two' ? { trigger: 'agent_failed', triggerConfig: {} } : {};
      const body = notice({ name, ...given });
      ids.unshift((await desk.test.call('POST', '/api/hooks', { token, body })).body.id);
    }
    const first = await ask('/api/hooks?limit=2');
    expect(first.body.hooks.map(({ id }: { id: string }) => id)).to.equal(ids.slice(0, 2));
    expect(first.body.nextCursor).to.equal(ids[1]);
    const second = await ask(`/api/hooks?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).to.include({ nextCursor: null });
    expect(second.body.hooks.map(({ id }: { id: string }) => id)).to.equal(ids.slice(2));
    const failed = await ask('/api/hooks?trigger=agent_failed&action=notify');
    expect(failed.body.hooks.map(({ name }: { name: string }) => name)).to.equal(['two']);
    expect((await ask('/api/hooks?trigger=never')).status).to.equal(400);
  });

  it('are hidden from others, who cannot change, run or delete them', async () => {
    const id = await desk.hook();
    const random = 'hook_00000000000000000000000000';
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['PUT', '', { name: 'mine now' }],
      ['DELETE', ''],
      ['POST', '/enable'],
      ['POST', '/disable'],
      ['GET', '/executions'],
      ['GET', '/executions/execution_x'],
      ['POST', '/executions/execution_x/replay', {}],
      ['POST', '/test', { payload: {} }],
      ['POST', '/test', { payload: {}, dryRun: true }],
      ['POST', '/rotate-secret', {}],
    ];
    for (const [method, rest, body] of calls) {
      const of = async (hook: string) => {
        const { token } = stranger;
        const path = `/api/hooks/${hook}${rest}`;
        const reply = await desk.test.call(method, path, {
          token,
          ...(body !== undefined && { body }),
        });
        const { requestId: _requestId, ...said } = reply.body;
        return said;
      };
      expect((await of(id)).statusCode).to.equal(404);
      expect(await of(id)).to.equal(await of(random));
    }
    expect((await get(id)).name).to.equal('issues');
  });

  it('keep their waiting runs when a stranger tries to delete them', async () => {
    const id = await desk.hook(onPath('waiting'));
    await desk.deliver('waiting', '{}');
    const { db } = desk.test.app.store;
    const waiting = { status: 'queued' as const, run_at: '2999' };
    await db.updateTable('executions').set(waiting).where('hook_id', '=', id).execute();
    await desk.test.call('DELETE', `/api/hooks/${id}`, { token: stranger.token });
    const runs = () =>
      db.selectFrom('executions').select('status').where('hook_id', '=', id).execute();
    expect(await runs()).to.equal([{ status: 'queued' }]);
    expect((await desk.ask('DELETE', `/api/hooks/${id}`)).status).to.equal(204);
    expect(await runs()).to.equal([]);
    expect((await desk.ask('DELETE', `/api/hooks/${id}`)).status).to.equal(404);
    expect((await desk.deliver('waiting', '{}')).status).to.equal(404);
  });

  it('are enabled and disabled, as often as one likes', async () => {
    const id = await desk.hook({ ...onPath('switch'), enabled: false });
    expect((await get(id)).enabled).to.be.false();
    for (const [verb, enabled] of [
      ['enable', true],
      ['enable', true],
      ['disable', false],
    ] as const) {
      const { status, body } = await desk.ask('POST', `/api/hooks/${id}/${verb}`);
      expect([status, body.enabled]).to.equal([200, enabled]);
    }
    expect((await desk.deliver('switch', '{}')).body.accepted).to.be.false();
  });
});

describe('PUT', () => {
  it('changes what is given and keeps the rest, the secret too', async () => {
    const id = await desk.hook({ ...onPath('kept'), cooldownMs: 5, description: 'd' });
    const created = await get(id);
    const { body } = await put(id, { name: 'renamed' });
    expect(body).to.equal({ ...created, name: 'renamed', updatedAt: '2026-03-01T12:00:00.001Z' });
    await put(id, { triggerConfig: { webhookPath: 'moved' } });
    expect((await desk.deliver('moved', '{}')).status).to.equal(202);
    expect((await desk.deliver('kept', '{}')).status).to.equal(404);
  });

  it('replaces a configuration whole', async () => {
    const id = await desk.hook({
      action: 'webhook',
      actionConfig: { webhookUrl: 'https://example.org', webhookMethod: 'PUT', webhookBody: 'x' },
    });
    const { body } = await put(id, { actionConfig: { webhookUrl: 'https://example.com' } });
    expect(body.actionConfig).to.equal({ webhookUrl: 'https://example.com' });
  });

  it('takes back what it gave, and ignores what is read-only in it', async () => {
    const plain = await get(
      await desk.hook({ conditions: [{ field: 'event', operator: 'exists' }] }),
    );
    const timed = await get(
      await desk.hook({ trigger: 'schedule', triggerConfig: { cron: '0 9 * * *' } }),
    );
    for (const hook of [plain, timed]) {
      const stats = { executions: 99, lastExecutionAt: NOW, lastStatus: 'success' };
      const { status, body } = await put(hook.id, {
        ...hook,
        id: 'hook_other',
        stats,
        createdAt: 'x',
      });
      expect(status).to.equal(200);
      expect(body).to.equal({ ...hook, updatedAt: body.updatedAt });
    }
  });

  it('replaces the secret, and drops it with its trigger or when it is blank', async () => {
    const id = await desk.hook(onPath('secrets'));
    const isSet = (body: { triggerConfig: object }) => 'webhookSecretSet' in body.triggerConfig;
    await put(id, onPath('secrets', 'next'));
    expect((await desk.deliver('secrets', '{}')).status).to.equal(401);
    expect((await desk.deliver('secrets', '{}', { secret: 'next' })).status).to.equal(202);

    await put(id, onPath('secrets', ' '));
    expect((await get(id)).triggerConfig.webhookSecretSet).to.be.false();
    expect((await desk.deliver('secrets', '{}', { secret: ' ' })).status).to.equal(401);

    await put(id, onPath('secrets', 'third'));
    const away = await put(id, { trigger: 'agent_failed', triggerConfig: {} });
    expect(isSet(away.body)).to.be.false();
    expect((await desk.deliver('secrets', '{}', { secret: 'third' })).status).to.equal(404);
    const back = await put(id, { trigger: 'webhook', triggerConfig: { webhookPath: 'secrets' } });
    expect(back.body.triggerConfig.webhookSecretSet).to.be.false();
  });

  it('refuses what it does not know, and nothing at all', async () => {
    const id = await desk.hook();
    const refused: [unknown, string[]][] = [
      [{ ownerId: 'user_x' }, ['ownerId']],
      [{ userId: 'user_x', name: 'a' }, ['userId']],
      [
        { triggerConfig: { webhookPath: 'a', webhookSecretHash: 'x' } },
        ['triggerConfig.webhookSecretHash'],
      ],
      [{ actionConfig: { command: 'x' } }, ['actionConfig.command']],
      [{ trigger: 'schedule' }, ['triggerConfig.cron']],
      [{ action: 'webhook' }, ['actionConfig.webhookUrl']],
      [{ enabled: 1, cooldownMs: '5' }, ['cooldownMs', 'enabled']],
      [{}, ['']],
    ];
    for (const [body, fields] of refused) {
      const reply = await put(id, body);
      expect([reply.status, faultsOf(reply.body).toSorted()]).to.equal([400, fields]);
    }
    expect((await get(id)).updatedAt).to.equal(NOW);
  });

  it('loses nothing when many come at once', async () => {
    const id = await desk.hook(onPath('at-once'));
    const changes = [
      { name: 'n' },
      { description: 'd' },
      { actionConfig: { notifyMessage: 'm' } },
      { conditions: [{ field: 'event', operator: 'exists' }] },
      { triggerConfig: { webhookPath: 'at-once-2' } },
      { cooldownMs: 7 },
      { concurrency: 3 },
      { maxExecutions: 9 },
      { limits: { maxSteps: 2 } },
      { enabled: false },
    ];
    const replies = await Promise.all(changes.map((each) => put(id, each)));
    expect(replies.map(({ status }) => status)).to.equal(Array(10).fill(200));
    const hook = await get(id);
    for (const each of changes.filter((one) => !('triggerConfig' in one))) {
      expect(hook).to.include(each);
    }
    expect(hook.triggerConfig).to.equal({ webhookPath: 'at-once-2', webhookSecretSet: true });
    expect((await desk.deliver('at-once-2', '{}')).body.accepted).to.be.false();
    expect((await desk.deliver('at-once', '{}')).status).to.equal(404);
  });

  it('decides for the deliveries after it, while others are on their way', async () => {
    const id = await desk.hook(onPath('rekeyed', 'old'));
    const send = (secret: string) => desk.deliver('rekeyed', '{}', { secret });
    const [, ...replies] = await Promise.all([
      put(id, onPath('rekeyed', 'new')),
      ...Array.from({ length: 20 }, () => send('old')),
    ]);
    for (const { status } of replies) expect([202, 401]).to.include(status);
    expect((await send('old')).status).to.equal(401);
    expect((await send('new')).status).to.equal(202);
    const accepted = replies.filter(({ status }) => status === 202).length + 1;
    expect(await desk.ended(id, accepted)).to.have.length(accepted);
  });
});

/** What is wrong with a new hook, and the field that the answer must name. */
const REFUSED: [Record<string, unknown>, string][] = [
  [{ name: undefined }, 'name'],
  [{ trigger: 'mail' }, 'trigger'],
  [{ triggerConfig: {} }, 'triggerConfig.webhookPath'],
  [{ triggerConfig: { webhookPath: 'a/b' } }, 'triggerConfig.webhookPath'],
  [{ triggerConfig: { webhookPath: 'a\u0000' } }, 'triggerConfig.webhookPath'],
  [{ triggerConfig: { webhookPath: '' } }, 'triggerConfig.webhookPath'],
  [{ triggerConfig: { webhookPath: 'x'.repeat(201) } }, 'triggerConfig.webhookPath'],
  [
    { triggerConfig: { webhookPath: 'a', webhookCredentialId: 'c' } },
    'triggerConfig.webhookCredentialId',
  ],
  [{ trigger: 'schedule', triggerConfig: { cron: 'at nine' } }, 'triggerConfig.cron'],
  [{ trigger: 'schedule', triggerConfig: { cron: '0 0 30 2 *' } }, 'triggerConfig.cron'],
  [
    { trigger: 'schedule', triggerConfig: { cron: '* * * * *', timezone: 'Mars' } },
    'triggerConfig.timezone',
  ],
  [{ actionConfig: { notifyMessage: ' ' } }, 'actionConfig.notifyMessage'],
  [{ action: 'spawn_agent', actionConfig: {} }, 'actionConfig.agentPrompt'],
  [
    { action: 'spawn_agent', actionConfig: { agentPrompt: 'p', agentModel: 'none' } },
    'actionConfig.agentModel',
  ],
  [
    {
      action: 'spawn_agent',
      actionConfig: { agentPrompt: 'p', agentTools: ['time', 'http.none'] },
    },
    'actionConfig.agentTools.1',
  ],
  [{ action: 'execute_tool', actionConfig: { toolId: 'time' } }, 'actionConfig.toolAction'],
  [
    { action: 'webhook', actionConfig: { webhookUrl: 'file:///etc/passwd' } },
    'actionConfig.webhookUrl',
  ],
  [
    { action: 'webhook', actionConfig: { webhookUrl: 'http://127.0.0.1/' } },
    'actionConfig.webhookUrl',
  ],
  [
    { action: 'webhook', actionConfig: { webhookUrl: 'http://u:p@example.org/' } },
    'actionConfig.webhookUrl',
  ],
  [{ conditions: [{ field: 'event', operator: 'in', value: 'a' }] }, 'conditions.0.value'],
  [{ conditions: [{ field: 'event', operator: 'gt', value: '5' }] }, 'conditions.0.value'],
  [{ conditions: [{ field: 'event', operator: 'equals' }] }, 'conditions.0.value'],
  [{ conditions: [{ field: 'event', operator: 'matches', value: '(' }] }, 'conditions.0.value'],
  [{ conditions: [{ field: 'event', operator: 'like', value: 'a' }] }, 'conditions.0.operator'],
  [{ maxExecutions: 0 }, 'maxExecutions'],
  [{ stats: {} }, 'stats'],
];

describe('a new hook', () => {
  it('is told in our own words what a time must be', async () => {
    const said = async (cron: string, timezone?: string) => {
      const triggerConfig = { cron, timezone };
      const { body } = await desk.ask(
        'POST',
        '/api/hooks',
        notice({ trigger: 'schedule', triggerConfig }),
      );
      return body.details;
    };
    const fields = 'five fields: minute, hour, day, month and weekday, as in "30 9 * * 1-5"';
    const faults = [
      ['at nine', fields],
      ['99 * * * *', 'five fields; "99" is not a valid minute (0-59)'],
      ['5/x * * * *', 'five fields; "5/x" is not a valid minute (0-59)'],
      ['0 24 * * *', 'five fields; "24" is not a valid hour (0-23)'],
      ['0 9 0 * *', 'five fields; "0" is not a valid day of the month (1-31)'],
      ['0 9 * 1-13 *', 'five fields; "1-13" is not a valid month (1-12 or JAN-DEC)'],
      ['0 9 * * MON,8', 'five fields; "MON,8" is not a valid weekday (0-7 or SUN-SAT)'],
    ];
    for (const [cron = '', fault] of faults) {
      const message = `must be ${fault}`;
      expect(await said(cron)).to.equal([{ path: 'triggerConfig.cron', message }]);
    }
    expect(await said('0 9 * * *', 'Mars')).to.equal([
      { path: 'triggerConfig.timezone', message: 'must be a time zone, as in "Europe/Berlin"' },
    ]);
  });

  it('is refused with a sentence for each field that is wrong', async () => {
    for (const [given, field] of REFUSED) {
      const { status, body } = await desk.ask('POST', '/api/hooks', notice(given));
      expect([status, faultsOf(body)]).to.equal([400, [field]]);
      expect(body.message).to.contain(field);
    }
  });

  it('is the 100th on its path at most, of one user', async () => {
    for (let n = 0; n < 100; n++) await desk.hook(onPath('crowd'));
    const more = await desk.ask('POST', '/api/hooks', notice(onPath('crowd')));
    expect([more.status, more.body.error]).to.equal([409, 'Conflict']);
    const { token } = stranger;
    const another = await desk.test.call('POST', '/api/hooks', {
      token,
      body: notice(onPath('crowd')),
    });
    expect(another.status).to.equal(201);
    expect((await desk.deliver('crowd', '{}')).body.hooks).to.equal(101);
  });
});
