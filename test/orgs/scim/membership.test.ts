import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../../harness/app.js';
import { linkAccount, type Provisioned, provision } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const AT = '2026-01-01T00:00:00.000Z';
const OFF = [{ op: 'replace', path: 'active', value: false }];
const ON = [{ op: 'replace', path: 'active', value: true }];

describe('members from an identity provider', () => {
  let app: TestApp;
  let admin: { id: string; token: string };
  let acme: Provisioned;
  before(async () => {
    app = await startApp();
    admin = await app.register('admin');
    acme = await provision(app, 'acme');
  });
  after(() => app.stop());

  const roles = async (): Promise<Record<string, string>> => {
    const { members } = (await app.call('GET', `/api/orgs/${acme.orgId}/members`, acme.owner)).body;
    return Object.fromEntries(
      members.map(({ userId, role }: { userId: string; role: string }) => [userId, role]),
    );
  };
  const setDisabled = (userId: string, disabled: boolean) =>
    app.call('PATCH', `/api/admin/users/${userId}`, { token: admin.token, body: { disabled } });
  const link = (userId: string, name: string) =>
    linkAccount(app, { orgId: acme.orgId, userId, name });

  it('only leave the organization if their account is their own', async () => {
    const bob = await app.register('bob');
    const body = { username: 'bob', role: 'admin' };
    await app.call('POST', `/api/orgs/${acme.orgId}/members`, { token: acme.owner.token, body });
    const id = await link(bob.id, 'bob@acme.example');
    expect((await acme.patch(`/Users/${id}`, OFF)).body.active).to.equal(false);
    expect((await roles())[bob.id]).to.be.undefined();
    expect((await app.call('GET', '/api/auth/me', bob)).status).to.equal(200);
    await acme.patch(`/Users/${id}`, ON);
    expect((await roles())[bob.id]).to.equal('member');
    expect((await acme.ask('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect((await roles())[bob.id]).to.be.undefined();
    expect((await app.call('GET', '/api/auth/me', bob)).status).to.equal(200);
  });

  it('never include the last owner among those who are removed', async () => {
    const id = await link(acme.owner.id, 'owner@acme.example');
    const refused = [
      await acme.patch(`/Users/${id}`, OFF),
      await acme.ask('DELETE', `/Users/${id}`),
    ];
    expect(refused.map(({ status, body }) => [status, body.detail])).to.equal(
      refused.map(() => [409, 'This is the last owner. Make another member an owner first']),
    );
    expect((await roles())[acme.owner.id]).to.equal('owner');
    expect((await acme.ask('GET', `/Users/${id}`)).body.active).to.equal(true);
  });

  it('stay disabled if an admin disabled them', async () => {
    const { id } = await acme.create('carol@acme.example');
    const account = await acme.accountOf(id);
    await setDisabled(account.id, true);
    for (const operations of [ON, OFF, ON]) await acme.patch(`/Users/${id}`, operations);
    expect((await acme.accountOf(id)).disabled_at).to.be.a.string();
    await setDisabled(account.id, false);
    await acme.patch(`/Users/${id}`, OFF);
    expect((await acme.accountOf(id)).disabled_at).to.be.a.string();
    await acme.patch(`/Users/${id}`, ON);
    expect((await acme.accountOf(id)).disabled_at).to.be.null();
  });

  it('stay disabled if an admin disables them after the identity provider', async () => {
    const { id } = await acme.create('grace@acme.example');
    await acme.patch(`/Users/${id}`, OFF);
    await setDisabled((await acme.accountOf(id)).id, true);
    await acme.patch(`/Users/${id}`, ON);
    expect((await acme.accountOf(id)).disabled_at).to.be.a.string();
  });

  it('come back only if the identity provider enables them again', async () => {
    const { id } = await acme.create('heidi@acme.example');
    const account = await acme.accountOf(id);
    const member = `/api/orgs/${acme.orgId}/members/${account.id}`;
    await app.call('DELETE', member, acme.owner);
    await acme.patch(`/Users/${id}`, [{ op: 'replace', path: 'displayName', value: 'Heidi' }]);
    expect((await roles())[account.id]).to.be.undefined();
    for (const operations of [OFF, ON]) await acme.patch(`/Users/${id}`, operations);
    expect((await roles())[account.id]).to.equal('member');
  });

  it('are not disabled once they are admins of the installation', async () => {
    const { id } = await acme.create('ivan@acme.example');
    const account = await acme.accountOf(id);
    const body = { role: 'admin' };
    await app.call('PATCH', `/api/admin/users/${account.id}`, { token: admin.token, body });
    await acme.patch(`/Users/${id}`, OFF);
    expect((await acme.accountOf(id)).disabled_at).to.be.null();
    expect((await roles())[account.id]).to.be.undefined();
  });

  it('get an e-mail address only of a domain that the organization has verified', async () => {
    const emailOf = async (userName: string) => {
      const { id } = await acme.create(userName, { emails: [{ value: userName }] });
      const user = app.app.store.db.selectFrom('users').select('email');
      const { email } = await user
        .where('id', '=', (await acme.accountOf(id)).id)
        .executeTakeFirstOrThrow();
      return email;
    };
    expect(await emailOf('judy@partner.example')).to.be.null();
    await app.app.store.db
      .insertInto('org_domains')
      .values({
        ...{ id: 'domain_1', org_id: acme.orgId, domain: 'acme.example', value: 'x' },
        ...{ verified_at: AT, created_at: AT },
      })
      .execute();
    expect(await emailOf('judy@acme.example')).to.equal('judy@acme.example');
  });

  it('are at most as many as an admin allows', async () => {
    const members = Object.keys(await roles()).length;
    const limit = (maxMembers: number) =>
      app.call('PATCH', `/api/admin/orgs/${acme.orgId}`, {
        token: admin.token,
        body: { maxMembers },
      });
    await limit(members + 1);
    const { id } = await acme.create('dave@acme.example');
    const full = await acme.ask('POST', '/Users', { userName: 'erin@acme.example' });
    expect([full.status, full.body.detail]).to.equal([
      409,
      `The organization has its maximum of ${members + 1} members. An admin of the installation can raise the maximum`,
    ]);
    const query = '/Users?filter=userName%20eq%20%22erin@acme.example%22';
    expect((await acme.ask('GET', query)).body.totalResults).to.equal(0);
    await acme.patch(`/Users/${id}`, OFF);
    const erin = await acme.create('erin@acme.example');
    expect((await acme.patch(`/Users/${id}`, ON)).status).to.equal(409);
    expect((await acme.accountOf(id)).disabled_at).to.be.a.string();
    expect((await roles())[(await acme.accountOf(erin.id)).id]).to.equal('member');
    await limit(100);
  });

  it('get the roles of their groups, and never become owners', async () => {
    const { id } = await acme.create('frank@acme.example');
    const account = (await acme.accountOf(id)).id;
    await app.app.store.db
      .insertInto('org_group_roles')
      .values({ org_id: acme.orgId, group_key: 'chiefs', role: 'admin' })
      .execute();
    const owner = (await acme.ask('GET', '/Users?filter=userName%20eq%20%22owner@acme.example%22'))
      .body.Resources[0].id;
    const group = await acme.ask('POST', '/Groups', {
      displayName: 'Chiefs',
      members: [{ value: id }, { value: owner }],
    });
    const path = `/Groups/${group.body.id}`;
    expect((await roles())[account]).to.equal('admin');
    await acme.patch(path, [{ op: 'replace', value: { displayName: 'Staff' } }]);
    expect((await roles())[account]).to.equal('member');
    await acme.patch(path, [{ op: 'replace', value: { displayName: 'chiefs' } }]);
    expect((await roles())[account]).to.equal('admin');
    await acme.patch(`/Users/${id}`, OFF);
    await acme.patch(`/Users/${id}`, ON);
    expect((await roles())[account]).to.equal('admin');
    await acme.ask('DELETE', path);
    const after = await roles();
    expect([after[account], after[acme.owner.id]]).to.equal(['member', 'owner']);
  });

  it('leave an entry in the audit log with each change', async () => {
    const { id } = await acme.create('gina@acme.example');
    await acme.patch(`/Users/${id}`, OFF);
    await acme.ask('DELETE', `/Users/${id}`);
    const { entries } = (await app.call('GET', `/api/admin/audit?limit=3`, admin)).body;
    expect(
      entries.map(({ action, target, actorId }: Record<string, string>) => [
        action,
        target,
        actorId,
      ]),
    ).to.equal(
      ['scim.user-delete', 'scim.user-disable', 'scim.user-create'].map((action) => [
        action,
        acme.orgId,
        acme.orgId,
      ]),
    );
  });
});
