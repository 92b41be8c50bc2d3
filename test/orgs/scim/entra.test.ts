import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { WebSocket } from 'ws';
import { startApp, type TestApp } from '../../harness/app.js';
import { type Provisioned, provision } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const GRACE = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', ENTERPRISE],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName: 'grace@entra.example.com',
  active: true,
  emails: [{ primary: true, type: 'work', value: 'grace@entra.example.com' }],
  meta: { resourceType: 'User' },
  name: { formatted: 'Grace Hopper', familyName: 'Hopper', givenName: 'Grace' },
  roles: [],
  [ENTERPRISE]: { department: 'Navy' },
};

describe('the requests of Entra ID', () => {
  let app: TestApp;
  let admin: { token: string };
  let acme: Provisioned;
  let id: string;
  before(async () => {
    app = await startApp();
    admin = await app.register('admin');
    acme = await provision(app, 'acme');
    id = (await acme.create(GRACE.userName, GRACE)).id;
  });
  after(() => app.stop());

  const find = async (path: string, filter: string) =>
    (
      await acme.ask(
        'GET',
        `${path}${path.includes('?') ? '&' : '?'}filter=${encodeURIComponent(filter)}`,
      )
    ).body;

  it('search by userName and externalId', async () => {
    const none = await find('/Users', 'userName eq "5dcb5d04-4bdb-4d5a-9b5c-3f9d8a3cbb8c"');
    expect([none.totalResults, none.Resources]).to.equal([0, []]);
    const { Resources } = await find('/Users', `externalId eq "${GRACE.externalId}"`);
    expect(Resources.map((user: { id: string }) => user.id)).to.equal([id]);
    const upper = GRACE.externalId.toUpperCase();
    expect((await find('/Users', `externalId eq "${upper}"`)).totalResults).to.equal(0);
  });

  it('change attributes by paths with filters, and those that are not stored', async () => {
    const { status, body } = await acme.patch(`/Users/${id}`, [
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'g.hopper@entra.example.com' },
      { op: 'Replace', path: 'name.familyName', value: 'Murray' },
      { op: 'Add', path: 'title', value: 'Rear admiral' },
      { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Research' },
      { op: 'Replace', path: 'displayName', value: 'Amazing Grace' },
    ]);
    expect([status, body.emails, body.name, body.displayName]).to.equal([
      200,
      [{ value: 'g.hopper@entra.example.com', type: 'work', primary: true }],
      { formatted: 'Grace Murray', givenName: 'Grace', familyName: 'Murray' },
      'Amazing Grace',
    ]);
    const renamed = await acme.patch(`/Users/${id}`, [
      { op: 'Replace', path: 'userName', value: 'hopper@entra.example.com' },
      { op: 'Remove', path: 'emails[type eq "work"].value' },
      { op: 'Replace', value: { 'name.givenName': 'G.', displayName: 'Hopper' } },
    ]);
    expect([renamed.body.userName, renamed.body.emails, renamed.body.name.givenName]).to.equal([
      'hopper@entra.example.com',
      undefined,
      'G.',
    ]);
  });

  it('disable with the text False, which ends everything within the reply', async () => {
    const account = await acme.accountOf(id);
    const token = await app.impersonate(admin.token, account.id);
    const me = () => app.call('GET', '/api/auth/me', { token });
    expect((await me()).status).to.equal(200);
    const socket = new WebSocket(`${app.url.replace('http', 'ws')}/ws?token=${token}`);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const off = await acme.patch(`/Users/${id}`, [
      { op: 'Replace', path: 'active', value: 'False' },
    ]);
    expect([off.status, off.body.active, (await me()).status]).to.equal([200, false, 401]);
    expect((await closed)[0]).to.equal(4401);
    const { members } = (await app.call('GET', `/api/orgs/${acme.orgId}/members`, acme.owner)).body;
    expect(members.length).to.equal(1);
    const on = await acme.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value: 'True' }]);
    expect([on.body.active, (await acme.accountOf(id)).disabled_at]).to.equal([true, null]);
  });

  it('manage groups without reading their members', async () => {
    const { body: group } = await acme.ask('POST', '/Groups', {
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:Group',
        'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
      ],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'Admirals',
      meta: { resourceType: 'Group' },
    });
    const path = `/Groups/${group.id}`;
    const other = (await acme.create('other@entra.example.com')).id;
    const listed = await find('/Groups?excludedAttributes=members', 'displayName eq "Admirals"');
    expect(Object.keys(listed.Resources[0])).to.equal([
      'schemas',
      'id',
      'externalId',
      'displayName',
      'meta',
    ]);
    const both = [{ value: id }, { value: other }];
    expect((await acme.patch(path, [{ op: 'Add', path: 'members', value: both }])).status).to.equal(
      204,
    );
    const isMember = `id eq "${group.id}" and members eq "${other}"`;
    expect((await find('/Groups?excludedAttributes=members', isMember)).totalResults).to.equal(1);
    await acme.patch(path, [
      { op: 'Remove', path: 'members', value: [{ $ref: null, value: other }] },
    ]);
    expect((await find('/Groups', isMember)).totalResults).to.equal(0);
    await acme.patch(path, [{ op: 'Remove', path: 'members', value: [] }]);
    const read = async () => (await acme.ask('GET', path)).body;
    expect((await read()).members.map(({ value }: { value: string }) => value)).to.equal([id]);
    await acme.patch(path, [{ op: 'Replace', path: 'displayName', value: 'Officers' }]);
    expect((await read()).displayName).to.equal('Officers');
    await acme.patch(path, [{ op: 'Remove', path: 'members' }]);
    expect((await read()).members).to.equal([]);
    const unknown = await acme.patch(path, [
      { op: 'Add', path: 'members', value: [{ value: 'identity_unknown' }] },
    ]);
    expect([unknown.status, unknown.body.scimType]).to.equal([400, 'invalidValue']);
  });

  it('delete a user, who is not found until the next POST restores the account', async () => {
    const { id: account } = await acme.accountOf(id);
    expect((await acme.ask('DELETE', `/Users/${id}`)).status).to.equal(204);
    expect((await acme.accountOf(id)).disabled_at).to.be.a.string();
    for (const method of ['GET', 'DELETE']) {
      expect((await acme.ask(method, `/Users/${id}`)).status).to.equal(404);
    }
    expect((await find('/Users', `externalId eq "${GRACE.externalId}"`)).totalResults).to.equal(0);
    const { status, body } = await acme.ask('POST', '/Users', { ...GRACE, userName: 'new@name' });
    expect([status, body.id, body.active, body.userName]).to.equal([201, id, true, 'new@name']);
    expect(await acme.accountOf(id)).to.include({ id: account, disabled_at: null });
    await acme.ask('DELETE', `/Users/${id}`);
    const byName = await acme.ask('POST', '/users', { userName: 'NEW@name' });
    expect([byName.status, byName.body.id]).to.equal([201, id]);
  });
});
