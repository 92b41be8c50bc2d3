import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, PASSWORD, type Reply, startApp, type TestApp } from '../../harness/app.js';
import { type Provisioned, provision, SCIM } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE_MS = 60_000;

describe('SCIM of an organization', () => {
  const clock = frozenClock();
  let app: TestApp;
  let admin: { id: string; token: string };
  let acme: Provisioned;
  let other: Provisioned;
  before(async () => {
    app = await startApp({ clock });
    admin = await app.register('admin');
    acme = await provision(app, 'acme');
    other = await provision(app, 'other');
  });
  after(() => app.stop());

  const asOwner = (method: string, path: string, body?: object) =>
    app.call(method, `/api/orgs/${acme.orgId}${path}`, { token: acme.owner.token, body });
  const statusOf = ({ status }: Reply) => status;

  it('needs the approval of an admin', async () => {
    const { token } = await app.register('newcomer');
    const body = { slug: 'newer', name: 'Newer' };
    const { id } = (await app.call('POST', '/api/orgs', { token, body })).body;
    const enable = (enabled: boolean) =>
      app.call('PUT', `/api/orgs/${id}/scim`, { token, body: { enabled } });
    const refused = await enable(true);
    expect([refused.status, refused.body.code]).to.equal([409, 'org_not_approved']);
    await app.call('PATCH', `/api/admin/orgs/${id}`, {
      token: admin.token,
      body: { approved: true },
    });
    expect((await enable(true)).body).to.equal({
      enabled: true,
      tokenSet: false,
      lastUsedAt: null,
    });
    await app.call('PATCH', `/api/admin/orgs/${id}`, {
      token: admin.token,
      body: { approved: false },
    });
    expect((await app.call('GET', `${SCIM}/Users`, { token })).status).to.equal(403);
  });

  it('keeps its users from the identity provider of another', async () => {
    const { id } = await acme.create('ada@acme.example');
    const group = (await acme.ask('POST', '/Groups', { displayName: 'Ours' })).body.id;
    const tries = [
      await other.ask('GET', `/Users/${id}`),
      await other.ask('PUT', `/Users/${id}`, { userName: 'mine' }),
      await other.patch(`/Users/${id}`, [{ op: 'replace', value: { active: false } }]),
      await other.ask('DELETE', `/Users/${id}`),
      await other.ask('GET', `/Groups/${group}`),
      await other.patch(`/Groups/${group}`, [{ op: 'remove', path: 'members' }]),
      await other.ask('DELETE', `/Groups/${group}`),
    ];
    expect(tries.map(statusOf)).to.equal(tries.map(() => 404));
    const theirs = await other.ask('POST', '/Groups', { displayName: 'Ours' });
    const adding = await other.patch(`/Groups/${theirs.body.id}`, [
      { op: 'add', path: 'members', value: [{ value: id }] },
    ]);
    expect([theirs.status, adding.status]).to.equal([201, 400]);
    expect((await other.ask('GET', '/Users')).body.totalResults).to.equal(0);
    const query = new URLSearchParams({ org: 'acme', filter: 'userName pr' });
    expect((await other.ask('GET', `/Users?${query}`)).body.totalResults).to.equal(0);
    const same = await other.create('ada@acme.example');
    expect(same.id).to.not.equal(id);
    expect((await acme.ask('GET', `/Users/${id}`)).body.active).to.equal(true);
  });

  it('answers owners and admins with their own token, and nobody else', async () => {
    const boss = await app.register('boss');
    const first = await provision(app, 'first', boss);
    const call = (token: string, path: string) => app.call('GET', `${SCIM}${path}`, { token });
    expect((await call(boss.token, '/Users')).status).to.equal(200);
    await provision(app, 'second', boss);
    const { status, body } = await call(boss.token, '/Users');
    expect([status, body.status]).to.equal([400, '400']);
    await first.create('only@first.example');
    expect((await call(boss.token, '/Users?org=first')).body.totalResults).to.equal(1);
    expect((await call(boss.token, '/users?org=second')).body.totalResults).to.equal(0);
    const { accountOf, create } = first;
    const member = await accountOf((await create('member@first.example')).id);
    const asMember = await app.impersonate(admin.token, member.id);
    const stranger = await app.register('stranger');
    const refused = [
      await call(boss.token, '/Users?org=acme'),
      await call(asMember, '/Users?org=first'),
      await call(stranger.token, '/Users?org=first'),
      await call(stranger.token, '/Users'),
    ];
    expect(refused.map(statusOf)).to.equal([404, 404, 404, 404]);
  });

  it('stores only a digest of the token, and accepts only the newest', async () => {
    const rows = await app.app.store.db.selectFrom('org_scim').selectAll().execute();
    expect(JSON.stringify(rows)).to.not.include(acme.token.slice(-43));
    const renewed = await asOwner('POST', '/scim-token', {});
    expect([renewed.status, renewed.headers['cache-control']]).to.equal([201, 'no-store']);
    const asked = (token: string) => app.call('GET', `${SCIM}/Users`, { token });
    expect(statusOf(await asked(acme.token))).to.equal(401);
    expect(statusOf(await asked(renewed.body.token))).to.equal(200);
    const [, , secret = ''] = renewed.body.token.split('_');
    const crossed = `scim_${other.orgId.replace('org_', '')}_${secret}`;
    expect(statusOf(await asked(crossed))).to.equal(401);
    const elsewhere = await app.call('GET', '/api/orgs', { token: renewed.body.token });
    expect(elsewhere.status).to.equal(401);
    expect(statusOf(await asOwner('DELETE', '/scim-token'))).to.equal(204);
    expect(statusOf(await asked(renewed.body.token))).to.equal(401);
    clock.forward(11 * MINUTE_MS);
    const stale = await asOwner('POST', '/scim-token', {});
    expect([stale.status, stale.body.code]).to.equal([403, 'password_required']);
    const fresh = await asOwner('POST', '/scim-token', { password: PASSWORD });
    acme = { ...acme, token: fresh.body.token };
  });

  it('refuses everything while it is disabled, also after a restart', async () => {
    const asked = () => app.call('GET', `${SCIM}/Users`, { token: acme.token });
    await asOwner('PUT', '/scim', { enabled: false });
    const { status, body } = await asked();
    expect([status, body.status]).to.equal([403, '403']);
    await app.restart();
    expect(statusOf(await asked())).to.equal(403);
    await asOwner('PUT', '/scim', { enabled: true });
    expect(statusOf(await asked())).to.equal(200);
    const { scim } = (await asOwner('GET', '')).body;
    expect(scim).to.equal({
      enabled: true,
      tokenSet: true,
      lastUsedAt: new Date(clock.now()).toISOString(),
    });
  });

  it('logs the newest thousand requests, without their bodies', async () => {
    const call = (path: string, body?: object) =>
      app.call(body ? 'POST' : 'GET', `${SCIM}${path}`, { token: acme.token, body });
    await call('/Users', { userName: 'logged@acme.example', password: 'a secret of theirs' });
    await call('/Users', { userName: 'logged@acme.example' });
    await call('/Users?filter=active%20eq%20true');
    const { requests } = (await asOwner('GET', '/scim/log?limit=3')).body;
    const lines = requests.map(({ method, path, status, username }: Record<string, unknown>) => [
      method,
      path,
      status,
      username,
    ]);
    expect(lines).to.equal([
      ['GET', '/Users?filter=active eq true', 200, null],
      ['POST', '/Users', 409, null],
      ['POST', '/Users', 201, null],
    ]);
    expect(requests[1].detail).to.include('already exists');
    await app.app.store.transact([
      {
        sql: `INSERT INTO org_scim_log (id, org_id, method, path, status, created_at)
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
          SELECT printf('scimlog_%05d', i), ?, 'GET', '/Users', 200, '2026-01-01T00:00:00.000Z' FROM n`,
        parameters: [acme.orgId],
      },
    ]);
    await call('/Users');
    const count = app.app.store.db
      .selectFrom('org_scim_log')
      .select((of) => of.fn.countAll<number>().as('count'))
      .where('org_id', '=', acme.orgId);
    expect((await count.executeTakeFirstOrThrow()).count).to.equal(1000);
    expect(JSON.stringify((await asOwner('GET', '/scim/log')).body)).to.not.include('a secret');
    const member = await app.call('GET', `/api/orgs/${acme.orgId}/scim/log`, {
      token: other.owner.token,
    });
    expect(member.status).to.equal(404);
  });

  it('answers 6,000 requests of an organization in a minute', async () => {
    clock.forward(MINUTE_MS);
    const path = `${SCIM}/ServiceProviderConfig`;
    const asked = (token: string) => app.call('GET', path, { token });
    const { headers } = await asked(other.token);
    expect([headers['ratelimit-limit'], headers['ratelimit-remaining']]).to.equal(['6000', '5999']);
    const { server } = app.app;
    const authorization = `Bearer ${other.token}`;
    const inject = () => server.inject({ url: path, headers: { authorization } });
    for (let sent = 1; sent < 6000; sent += 100) {
      await Promise.all(Array.from({ length: Math.min(100, 6000 - sent) }, inject));
    }
    const refused = await asked(other.token);
    expect([refused.status, refused.headers['retry-after'], refused.body]).to.equal([
      429,
      '60',
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '429',
        detail: 'At most 6000 requests a minute. Try again in 60 s',
      },
    ]);
    expect(refused.headers['content-type']).to.equal('application/scim+json');
    expect((await asked(acme.token)).status).to.equal(200);
    expect((await asked(other.owner.token)).status).to.equal(200);
    clock.forward(MINUTE_MS - 1);
    const late = await asked(other.token);
    expect([late.status, late.headers['retry-after']]).to.equal([429, '1']);
    clock.forward(1);
    expect((await asked(other.token)).status).to.equal(200);
  });
});
