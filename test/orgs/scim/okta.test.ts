import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../../harness/app.js';
import { type Provisioned, provision } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ADA = {
  schemas: [USER],
  userName: 'ada@okta.example.com',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ primary: true, value: 'ada@okta.example.com', type: 'work' }],
  displayName: 'Ada Lovelace',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
};

describe('the requests of Okta', () => {
  let app: TestApp;
  let acme: Provisioned;
  before(async () => {
    app = await startApp();
    await app.register('admin');
    acme = await provision(app, 'acme');
  });
  after(() => app.stop());

  it('test the connection, and find no user of that name', async () => {
    const test = await acme.ask('GET', '/Users?startIndex=1&count=2');
    expect([test.status, test.headers['content-type'], test.body]).to.equal([
      200,
      'application/scim+json',
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 0,
        startIndex: 1,
        itemsPerPage: 0,
        Resources: [],
      },
    ]);
    const filter = encodeURIComponent(`userName eq "${ADA.userName}"`);
    const { body } = await acme.ask('GET', `/Users?filter=${filter}&startIndex=1&count=100`);
    expect(body.totalResults).to.equal(0);
  });

  it('create a user as a member with an account, and read it back', async () => {
    const { status, headers, body } = await acme.ask('POST', '/Users', ADA);
    const { id, meta, ...rest } = body;
    expect([status, headers['content-type'], headers.location, headers.etag]).to.equal([
      201,
      'application/scim+json',
      `${app.url}/api/scim/v2/Users/${id}`,
      meta.version,
    ]);
    const { locale: _, password: _p, ...kept } = ADA;
    expect(rest).to.equal({ ...kept, name: { ...ADA.name, formatted: 'Ada Lovelace' } });
    expect((await acme.ask('GET', `/Users/${id}`)).body).to.equal(body);
    const found = await acme.ask('GET', '/Users?filter=userName%20eq%20%22ADA@okta.example.com%22');
    expect(found.body.Resources).to.equal([body]);
    const account = await acme.accountOf(id);
    expect(account.username).to.equal('acme-1');
    const members = await app.call('GET', `/api/orgs/${acme.orgId}/members`, acme.owner);
    expect(
      members.body.members.find(({ userId }: { userId: string }) => userId === account.id),
    ).to.include({ username: 'acme-1', role: 'member' });
    const login = { username: 'acme-1', password: ADA.password };
    expect((await app.call('POST', '/api/auth/login', { body: login })).status).to.equal(401);
  });

  it('refuse the same user a second time', async () => {
    const { status, body } = await acme.ask('POST', '/Users', ADA);
    const { detail: _, ...rest } = body;
    expect([status, rest]).to.equal([
      409,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '409',
        scimType: 'uniqueness',
      },
    ]);
  });

  it('update with PUT, disable and enable with PATCH', async () => {
    const { id } = (await acme.ask('GET', '/Users')).body.Resources[0];
    const put = await acme.ask('PUT', `/Users/${id}`, {
      ...ADA,
      id,
      userName: 'ada.king@okta.example.com',
      name: { givenName: 'Ada', familyName: 'King' },
    });
    expect([put.status, put.body.userName, put.body.name.formatted]).to.equal([
      200,
      'ada.king@okta.example.com',
      'Ada King',
    ]);
    const off = await acme.patch(`/Users/${id}`, [{ op: 'replace', value: { active: false } }]);
    expect([off.status, off.body.active]).to.equal([200, false]);
    expect((await acme.accountOf(id)).disabled_at).to.be.a.string();
    const again = await acme.ask('PUT', `/Users/${id}`, { userName: 'ada.king@okta.example.com' });
    expect([again.body.active, again.body.displayName]).to.equal([false, undefined]);
    const on = await acme.patch(`/Users/${id}`, [{ op: 'replace', value: { active: true } }]);
    expect([on.status, on.body.active]).to.equal([200, true]);
    expect((await acme.accountOf(id)).disabled_at).to.be.null();
  });

  it('push a group with members, rename and remove it', async () => {
    const { id } = (await acme.ask('GET', '/Users')).body.Resources[0];
    const group = await acme.ask('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Engineering',
      members: [],
    });
    const path = `/Groups/${group.body.id}`;
    expect([group.status, group.body.members]).to.equal([201, []]);
    const value = [{ value: id, display: 'ada.king@okta.example.com' }];
    const added = await acme.patch(path, [{ op: 'add', path: 'members', value }]);
    expect([added.status, added.text]).to.equal([204, '']);
    const member = {
      value: id,
      $ref: `${app.url}/api/scim/v2/Users/${id}`,
      display: 'ada.king@okta.example.com',
      type: 'User',
    };
    expect((await acme.ask('GET', path)).body.members).to.equal([member]);
    expect((await acme.ask('GET', `/Users/${id}`)).body.groups).to.equal([
      {
        value: group.body.id,
        $ref: `${app.url}/api/scim/v2${path}`,
        display: 'Engineering',
        type: 'direct',
      },
    ]);
    await acme.patch(path, [
      { op: 'replace', value: { id: group.body.id, displayName: 'Research' } },
    ]);
    const byName = '/Groups?filter=displayName%20eq%20%22research%22&startIndex=1&count=100';
    expect((await acme.ask('GET', byName)).body.totalResults).to.equal(1);
    await acme.patch(path, [{ op: 'remove', path: `members[value eq "${id}"]` }]);
    expect((await acme.ask('GET', path)).body.members).to.equal([]);
    await acme.ask('PUT', path, { displayName: 'Research', members: value });
    expect((await acme.ask('GET', path)).body.members).to.equal([member]);
    expect((await acme.ask('DELETE', path)).status).to.equal(204);
    const gone = await acme.ask('GET', path);
    expect([gone.status, gone.body]).to.equal([
      404,
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '404',
        detail: 'No group with that id',
      },
    ]);
    expect((await acme.ask('GET', `/Users/${id}`)).body.groups).to.equal([]);
  });
});
