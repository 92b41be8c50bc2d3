import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

const LIST = '/api/admin/users';
const NOBODY = 'user_01jcx2kq7m8f3k2a9v5ztw4e6r';

describe('users', () => {
  const stage = openForSuite(lab, openStage);

  const names = async (query = ''): Promise<string[]> => {
    const { body } = await stage.ask('GET', LIST + query);
    return body.users.map(({ username }: { username: string }) => username);
  };
  const patch = (id: string, body: object) => stage.ask('PATCH', `${LIST}/${id}`, body);

  it('are listed, newest first', async () => {
    const { status, body } = await stage.ask('GET', LIST);
    const [, ada] = body.users;
    expect([status, body.users.length, body.nextCursor]).to.equal([200, 2, null]);
    expect(ada).to.equal({
      id: stage.admin.id,
      username: 'ada',
      email: null,
      role: 'admin',
      disabled: false,
      disabledAt: null,
      limits: { dailyCostUsd: null, dailyTokens: null, dailySteps: null },
      permissions: { shell: null, mcp: null, index: null, email: null },
      totpEnabled: false,
      passkeys: 0,
      createdAt: '2026-03-01T12:00:00.000Z',
    });
  });

  it('are paged', async () => {
    const first = (await stage.ask('GET', `${LIST}?limit=1`)).body;
    const second = (await stage.ask('GET', `${LIST}?limit=1&cursor=${first.nextCursor}`)).body;
    expect([first.users[0].username, second.users[0].username, second.nextCursor]).to.equal([
      'bob',
      'ada',
      null,
    ]);
  });

  it('are filtered by role, state and a part of the name or address', async () => {
    await stage.register({ username: 'Zoë_100', email: 'zoe@example.org' });
    const zoe = (await stage.ask('GET', `${LIST}?q=zo%C3%8B`)).body.users[0];
    await patch(zoe.id, { disabled: true });
    const found = await Promise.all(
      [
        '?role=admin',
        '?role=user',
        '?disabled=true',
        '?disabled=false',
        '?q=BO',
        '?q=example.org',
        '?q=_',
        '?q=%25',
      ].map(names),
    );
    expect(found).to.equal([
      ['ada'],
      ['Zoë_100', 'bob'],
      ['Zoë_100'],
      ['bob', 'ada'],
      ['bob'],
      ['Zoë_100'],
      ['Zoë_100'],
      [],
    ]);
  });

  for (const query of ['?role=root', '?disabled=perhaps', '?limit=0', '?name=bob', '?q=']) {
    it(`refuses ${query}`, async () => {
      expect((await stage.ask('GET', LIST + query)).status).to.equal(400);
    });
  }

  it('are for admins alone', async () => {
    const calls = [
      ['GET', LIST],
      ['PATCH', `${LIST}/${stage.bob.id}`],
      ['POST', `${LIST}/${stage.admin.id}/invite`],
      ['POST', `${LIST}/new/invite`],
      ['POST', `${LIST}/${stage.bob.id}/impersonate`],
    ] as const;
    for (const [method, path] of calls) {
      const body = method === 'GET' ? undefined : { role: 'admin', reason: 'x' };
      expect((await stage.as(stage.bob, method, path, body)).status, path).to.equal(403);
      expect((await stage.app.call(method, path, { body })).status, path).to.equal(401);
    }
  });

  it('are changed in what is given alone, and null takes it back', async () => {
    const { id } = stage.bob;
    await patch(id, { limits: { dailyCostUsd: 2.5 }, permissions: { shell: true } });
    const { body } = await patch(id, { limits: { dailyTokens: 1000 } });
    expect([body.limits, body.permissions, body.role]).to.equal([
      { dailyCostUsd: 2.5, dailyTokens: 1000, dailySteps: null },
      { shell: true, mcp: null, index: null, email: null },
      'user',
    ]);
    const back = await patch(id, { limits: { dailyCostUsd: null, dailyTokens: null } });
    expect(back.body.limits).to.equal({
      dailyCostUsd: null,
      dailyTokens: null,
      dailySteps: null,
    });
    await patch(id, { permissions: { shell: null } });
  });

  it('may come back as they were given', async () => {
    const { body } = await stage.ask('GET', `${LIST}?q=bob`);
    const reply = await patch(stage.bob.id, { ...body.users[0], username: 'root', id: 'x' });
    expect([reply.status, reply.body]).to.equal([200, body.users[0]]);
  });

  for (const [what, body] of [
    ['an empty change', {}],
    ['an unknown role', { role: 'root' }],
    ['a role that is no text', { role: ['admin'] }],
    ['a negative limit', { limits: { dailyCostUsd: -1 } }],
    ['an unknown limit', { limits: { everything: 1 } }],
    ['no limit at all', { limits: {} }],
    ['a permission that is no flag', { permissions: { shell: 'yes' } }],
    ['an unknown key', { passwordHash: 'x' }],
  ] as const) {
    it(`refuses ${what}`, async () => {
      expect((await patch(stage.bob.id, body)).status).to.equal(400);
    });
  }

  it('have no password that an admin could set', async () => {
    const before = await stage.audited('users.update');
    const { status, body } = await patch(stage.bob.id, { password: 'a new one for him' });
    expect([status, body.details.map(({ path }: { path: string }) => path)]).to.equal([
      400,
      ['password'],
    ]);
    expect(await stage.audited('users.update')).to.equal(before);
  });

  it('that nobody is are not found', async () => {
    expect((await patch(NOBODY, { disabled: true })).status).to.equal(404);
    expect((await stage.ask('POST', `${LIST}/${NOBODY}/invite`, {})).status).to.equal(404);
    const reason = { reason: 'x' };
    expect((await stage.ask('POST', `${LIST}/${NOBODY}/impersonate`, reason)).status).to.equal(404);
  });

  it('are changed on the record', async () => {
    await patch(stage.bob.id, { limits: { dailyTokens: 5 } });
    expect((await stage.audited('users.update')).at(-1)).to.equal({
      actor_id: stage.admin.id,
      impersonator_id: null,
      target: stage.bob.id,
      outcome: 'ok',
      data: { limits: { dailyTokens: 5 } },
    });
  });
});

describe('the last admin', () => {
  const stage = openForSuite(lab, openStage);

  for (const change of [{ role: 'user' }, { disabled: true }]) {
    it(`keeps the place, whoever asks for ${JSON.stringify(change)}`, async () => {
      const { status, body } = await stage.ask('PATCH', `${LIST}/${stage.admin.id}`, change);
      expect([status, body.code]).to.equal([409, 'last_admin']);
      expect((await stage.ask('GET', LIST)).status).to.equal(200);
    });
  }

  it('is not the last beside another, but a disabled one does not count', async () => {
    await stage.ask('PATCH', `${LIST}/${stage.bob.id}`, { role: 'admin', disabled: true });
    const alone = await stage.ask('PATCH', `${LIST}/${stage.admin.id}`, { role: 'user' });
    await stage.ask('PATCH', `${LIST}/${stage.bob.id}`, { disabled: false });
    const both = await stage.ask('PATCH', `${LIST}/${stage.admin.id}`, { role: 'user' });
    expect([alone.status, both.status, both.body.role]).to.equal([409, 200, 'user']);
    expect((await stage.ask('GET', LIST)).status).to.equal(403);
  });

  it('is one of two who demote or disable each other at once', async () => {
    const { app, login } = stage;
    const admins = () =>
      app.app.store.db
        .selectFrom('users')
        .select('id')
        .where('role', '=', 'admin')
        .where('disabled_at', 'is', null)
        .execute();
    for (const change of [{ role: 'user' }, { disabled: true }]) {
      await app.app.store.db
        .updateTable('users')
        .set({ role: 'admin', disabled_at: null })
        .execute();
      const [ada, bob] = await Promise.all(['ada', 'bob'].map((name) => login(name)));
      const demote = (by: typeof ada, whom: typeof ada) =>
        app.call('PATCH', `${LIST}/${whom?.body.user.id}`, {
          token: by?.body.token,
          body: change,
        });
      const replies = await Promise.all([demote(ada, bob), demote(bob, ada)]);
      expect(replies.filter(({ status }) => status === 200).length).to.equal(1);
      expect((await admins()).length).to.equal(1);
    }
  });
});
