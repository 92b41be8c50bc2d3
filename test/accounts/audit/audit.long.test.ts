import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  startApp,
  type TestApp,
} from '../../harness/app.js';
import { edited } from '../../store/audit/ledger.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

type Account = Awaited<ReturnType<TestApp['register']>>;

describe('the audit log', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let admin: Account;
  let user: Account;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    admin = await app.register('admin');
    user = await app.register('user');
  });
  after(() => app.stop());

  const list = async (query = '') =>
    (await app.call('GET', `/api/admin/audit${query}`, { token: admin.token })).body;
  const since = async (number: number) =>
    (await list('?limit=200')).entries.filter((one: { number: number }) => one.number > number);
  const newest = async (): Promise<number> => {
    const row = await app.app.store.db
      .selectFrom('audit')
      .select((of) => of.fn.max('number').as('number'))
      .executeTakeFirst();
    return row?.number ?? 0;
  };
  const newHook = async (token: string, name = 'in'): Promise<string> => {
    const body = {
      name,
      trigger: 'webhook',
      triggerConfig: { webhookPath: name, webhookSecret: 'open sesame' },
      action: 'notify',
      actionConfig: { notifyMessage: 'It came' },
    };
    return (await app.call('POST', '/api/hooks', { token, body })).body.id;
  };
  const rotate = (token: string, id: string, headers = {}) =>
    app.call('POST', `/api/hooks/${id}/rotate-secret`, { token, body: {}, headers });

  it('tells who did what to what, when, from where and in which request', async () => {
    const id = await newHook(user.token);
    const before = await newest();
    const { status } = await rotate(user.token, id, { 'x-request-id': 'mine-1' });
    expect(status).to.equal(200);
    const [entry, ...rest] = await since(before);
    expect(rest).to.equal([]);
    expect(entry.id).to.match(/^audit_[0-9a-z]{26}$/);
    expect(entry).to.equal({
      id: entry.id,
      at: '2026-03-01T12:00:00.000Z',
      actorId: user.id,
      impersonatorId: null,
      action: 'hooks.rotate-secret',
      target: id,
      outcome: 'ok',
      ip: '127.0.0.1',
      requestId: 'mine-1',
      data: { overlapMinutes: 60 },
      number: before + 1,
      actorName: 'user',
      impersonatorName: null,
    });
  });

  it('tells of logins, and how', async () => {
    const before = await newest();
    await app.call('POST', '/api/auth/login', { body: { username: 'user', password: PASSWORD } });
    const wrong = { username: 'user', password: 'not the password' };
    await app.call('POST', '/api/auth/login', { body: wrong });
    const told = (await since(before)).map((one: Record<string, unknown>) => ({
      action: one.action,
      actorId: one.actorId,
      outcome: one.outcome,
      data: one.data,
    }));
    expect(told).to.equal([
      { action: 'auth.login', actorId: user.id, outcome: 'ok', data: { by: 'password' } },
    ]);
  });

  it('tells of who read it, before the answer is out', async () => {
    const before = await newest();
    await list();
    await app.call('GET', '/api/admin/audit/verify', { token: admin.token });
    const actions = (await since(before)).map(({ action }: { action: string }) => action);
    expect(actions).to.equal(['audit.verify', 'audit.list']);
  });

  it('tells of a refusal once a minute for each user, action and status', async () => {
    const before = await newest();
    const ask = (path: string, token?: string) => app.call('GET', `/api/admin/${path}`, { token });
    for (let n = 0; n < 3; n++) {
      expect((await ask('audit', user.token)).status).to.equal(403);
      expect((await ask('audit')).status).to.equal(401);
      expect((await ask('audit', 'garbage')).status).to.equal(401);
    }
    await Promise.all([1, 2, 3].map(() => ask('audit/verify', user.token)));
    expect((await ask('audit?limit=0', admin.token)).status).to.equal(400);
    clock.forward(60_000);
    await ask('audit', user.token);
    const told = (await since(before)).map((one: Record<string, unknown>) => [
      one.action,
      one.actorId,
      one.outcome,
      one.data,
    ]);
    expect(told).to.equal([
      ['audit.list', user.id, 'denied', { status: 403 }],
      ['audit.list', admin.id, 'failed', { status: 400 }],
      ['audit.verify', user.id, 'denied', { status: 403 }],
      ['audit.list', user.id, 'denied', { status: 403 }],
    ]);
  });

  it('tells of what failed, with its code', async () => {
    const before = await newest();
    const { status } = await rotate(user.token, 'hook_01jcx2kq7m8f3k2a9v5ztw4e6r');
    const totp = await app.call('POST', '/api/auth/totp/enable', {
      token: user.token,
      body: { code: '123456' },
    });
    expect([status, totp.status]).to.equal([404, 409]);
    const told = (await since(before)).map((one: Record<string, unknown>) => [
      one.action,
      one.target,
      one.outcome,
      one.data,
    ]);
    expect(told).to.equal([
      ['totp.enable', null, 'failed', { status: 409, code: 'totp_not_set_up' }],
      ['hooks.rotate-secret', 'hook_01jcx2kq7m8f3k2a9v5ztw4e6r', 'failed', { status: 404 }],
    ]);
  });

  it('tells of everything an admin changes as another, under both names', async () => {
    const path = `/api/admin/users/${user.id}/impersonate`;
    const body = { reason: 'to help' };
    const { token } = (await app.call('POST', path, { token: admin.token, body })).body;
    const before = await newest();
    const id = await newHook(token, 'acted');
    await app.call('GET', `/api/hooks/${id}`, { token });
    await rotate(token, id);
    const grant = { challenge: 'c'.repeat(43) };
    const refused = await app.call('POST', '/api/auth/passkey/grant', { token, body: grant });
    expect([refused.status, refused.body.code]).to.equal([403, 'personal_only']);
    await app.call('DELETE', `/api/hooks/${id}`, { token });
    const told = (await since(before)).map((one: Record<string, unknown>) => {
      expect([one.actorId, one.impersonatorId]).to.equal([user.id, admin.id]);
      expect([one.actorName, one.impersonatorName]).to.equal(['user', 'admin']);
      return [one.action, one.target, one.outcome];
    });
    expect(told).to.equal([
      ['hooks.delete', id, 'ok'],
      ['passkeys.grant', null, 'denied'],
      ['hooks.rotate-secret', id, 'denied'],
      ['hooks.create', null, 'ok'],
    ]);
  });

  it('lets nothing be done as another where it cannot be told', async () => {
    const path = `/api/admin/users/${user.id}/impersonate`;
    const body = { reason: 'to help' };
    const { token } = (await app.call('POST', path, { token: admin.token, body })).body;
    const hooks = async () => (await app.call('GET', '/api/hooks', { token })).body.hooks.length;
    const before = await hooks();
    const db = new Database(`${app.home}/adjutant.db`, { timeout: 5000 });
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`);
    const id = await newHook(token, 'unseen');
    const refused = await rotate(user.token, 'hook_01jcx2kq7m8f3k2a9v5ztw4e6r');
    db.exec('DROP TRIGGER full');
    db.close();
    expect([id, await hooks(), refused.status]).to.equal([undefined, before, 404]);
  });

  it('lets nothing privileged be done whose entry a trigger swallows', async () => {
    const path = `/api/admin/users/${user.id}`;
    const before = await newest();
    const db = new Database(`${app.home}/adjutant.db`, { timeout: 5000 });
    db.exec('CREATE TRIGGER hush BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END');
    const body = { role: 'admin' };
    const refused = await app.call('PATCH', path, { token: admin.token, body });
    db.exec('DROP TRIGGER hush');
    const role = db.prepare('SELECT role FROM users WHERE id = ?').pluck().get(user.id);
    db.close();
    expect([refused.status, refused.body.code, role]).to.equal([
      503,
      'storage_unavailable',
      'user',
    ]);
    expect(await newest()).to.equal(before);
  });

  it('is paged, newest first, in the order of the chain', async () => {
    const whole = (await list('?limit=200')).entries;
    const ids: string[] = [];
    let cursor: string | null = whole[0].id;
    while (cursor !== null) {
      const page = await list(`?limit=2&cursor=${cursor}`);
      ids.push(...page.entries.map(({ id }: { id: string }) => id));
      cursor = page.nextCursor;
    }
    expect(ids).to.equal(whole.slice(1).map(({ id }: { id: string }) => id));
    expect((await list('?cursor=audit_of_nobody')).entries).to.equal([]);
  });

  it('is filtered by actor, action and time', async () => {
    const { entries } = await list('?limit=200');
    const matching = (test: (one: Record<string, string>) => boolean) =>
      entries.filter(test).map(({ id }: { id: string }) => id);
    const ids = async (query: string) =>
      (await list(`?limit=200&${query}`)).entries
        .map(({ id }: { id: string }) => id)
        .filter((id: string) => entries.some((one: { id: string }) => one.id === id));
    const noon = '2026-03-01T12:00:00.000Z';
    const later = '2026-03-01T12:01:00.000Z';
    expect(await ids(`actorId=${user.id}`)).to.equal(matching((one) => one.actorId === user.id));
    expect(await ids('action=auth.login')).to.equal(matching((one) => one.action === 'auth.login'));
    expect(await ids(`since=${later}`)).to.equal(matching((one) => (one.at ?? '') >= later));
    expect(await ids(`until=${later}`)).to.equal(matching((one) => one.at === noon));
    expect(await ids('since=2026-03-01T13:01:00%2B01:00')).to.equal(await ids(`since=${later}`));
    expect(await ids(`since=${later}&until=${later}`)).to.equal([]);
    for (const query of ['since=yesterday', 'outcome=ok', 'actorId=', 'limit=201']) {
      const { status } = await app.call('GET', `/api/admin/audit?${query}`, { token: admin.token });
      expect(status, query).to.equal(400);
    }
  });

  it('is held against its chain', async () => {
    const verified = async () =>
      (await app.call('GET', '/api/admin/audit/verify', { token: admin.token })).body;
    const before = await newest();
    const { ok, entries, head, problem } = await verified();
    expect([ok, entries, head.number, problem]).to.equal([true, before, before, null]);
    await app.app.close();
    edited(app.home, (db) => db.exec(`UPDATE audit SET data = '{"status":404' WHERE number = 3`));
    await app.restart();
    const { head: moved, ...verdict } = await verified();
    expect(moved.number).to.equal(before + 1);
    expect(verdict).to.equal({
      ok: false,
      entries: before + 1,
      problem: { number: 3, kind: 'changed', message: 'Entry 3 was changed' },
    });
    const [odd] = (await list('?limit=200')).entries.filter(
      ({ number }: { number: number }) => number === 3,
    );
    expect(odd.data).to.equal({ unreadable: '{"status":404' });
  });
});
