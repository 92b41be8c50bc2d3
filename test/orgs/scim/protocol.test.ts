import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../../harness/app.js';
import { type Provisioned, provision, SCIM, seedUsers } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
const MANY = 10_050;

describe('SCIM', () => {
  let app: TestApp;
  let acme: Provisioned;
  before(async () => {
    app = await startApp();
    await app.register('admin');
    acme = await provision(app, 'acme');
  });
  after(() => app.stop());

  const names = async (query: Record<string, string>): Promise<string[]> => {
    const { body } = await acme.ask('GET', `/Users?${new URLSearchParams(query)}`);
    return body.Resources?.map(({ userName }: { userName: string }) => userName) ?? body;
  };

  it('describes its features, schemas and resource types', async () => {
    const { body } = await acme.ask('GET', '/ServiceProviderConfig');
    const { patch, bulk, filter, changePassword, sort, etag } = body;
    expect({ patch, bulk, filter, changePassword, sort, etag }).to.equal({
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 1000, maxPayloadSize: 1024 * 1024 },
      filter: { supported: true, maxResults: 1000 },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
    });
    const schemas = (await acme.ask('GET', '/Schemas')).body;
    const attributes = ({
      id,
      attributes: all,
    }: {
      id: string;
      attributes: { name: string }[];
    }) => [id, all.map(({ name }) => name)];
    expect(schemas.Resources.map(attributes)).to.equal([
      [
        'urn:ietf:params:scim:schemas:core:2.0:User',
        ['userName', 'name', 'displayName', 'active', 'emails', 'groups'],
      ],
      ['urn:ietf:params:scim:schemas:core:2.0:Group', ['displayName', 'members']],
    ]);
    const [user] = schemas.Resources;
    expect((await acme.ask('GET', `/Schemas/${user.id}`)).body).to.equal(user);
    const types = (await acme.ask('GET', '/ResourceTypes')).body.Resources;
    expect(types.map(({ endpoint }: { endpoint: string }) => endpoint)).to.equal([
      '/Users',
      '/Groups',
    ]);
    expect((await acme.ask('GET', '/ResourceTypes/User')).body).to.equal(types[0]);
    expect((await acme.ask('GET', '/ResourceTypes/Other')).status).to.equal(404);
  });

  it('filters and sorts', async () => {
    await acme.create('a.one@x.org', { displayName: 'Zoë', emails: [{ value: 'a@x.org' }] });
    await acme.create('b.two@x.org', { displayName: 'ann', name: { familyName: 'O"Neil' } });
    await acme.create('c.three@y.org', { active: false, externalId: 'e-3' });
    const all = ['a.one@x.org', 'b.two@x.org', 'c.three@y.org'];
    const [a = '', b = '', c = ''] = all;
    const found: Record<string, string[]> = {
      'userName sw "A." or externalId eq "e-3"': [a, c],
      'username co "@X.ORG" and not (displayName eq "ANN")': [a],
      'userName ew "y.org"': [c],
      'active eq false': [c],
      'active eq "True"': [a, b],
      'displayName pr': [a, b],
      'not (displayName pr)': [c],
      'name.familyName eq "o\\"neil"': [b],
      'emails[type eq "work" and value eq "A@x.org"]': [a],
      'emails[type eq "work"].value eq "a@x.org"': [a],
      'emails[type eq "home"]': [],
      'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "b.two@x.org"': [b],
      'externalId ne "e-3"': [a, b],
      'meta.created gt "2020-01-01T00:00:00Z"': all,
      'meta.lastModified lt "2020-01-01T00:00:00+01:00"': [],
      'nickName eq "x"': [],
      '(userName gt "b" and userName lt "c") or (userName eq "nobody")': [b],
    };
    for (const [filter, wanted] of Object.entries(found)) {
      expect(await names({ filter }), filter).to.equal(wanted);
    }
    expect(await names({ sortBy: 'userName', sortOrder: 'descending' })).to.equal([c, b, a]);
    expect(await names({ sortBy: 'meta.created', unknownKey: '1' })).to.equal(all);
  });

  it('refuses wrong filters, at once even if they are made to be slow', async () => {
    const wrong = [
      'userName eq',
      'userName is "a"',
      'userName eq unquoted',
      '(userName eq "a"',
      'userName eq "a" or',
      'userName eq "a" "b"',
      `userName eq "${'\\'.repeat(1001)}`,
      `${'('.repeat(1000)}userName eq "a"${')'.repeat(1000)}`,
      Array.from({ length: 101 }, () => '(a eq 1 or b eq 2)').join(' and '),
      'meta.created gt "yesterday"',
    ];
    for (const filter of wrong) {
      const query = new URLSearchParams({ filter });
      const { status, body } = await acme.ask('GET', `/Users?${query}`);
      expect([status, body.scimType, body.schemas], filter).to.equal([
        400,
        'invalidFilter',
        [ERROR],
      ]);
    }
  });

  it('returns the requested attributes', async () => {
    const { id } = await acme.create('d.four@x.org', { displayName: 'Four' });
    const only = await acme.ask('GET', `/Users/${id}?attributes=userName,name.givenName`);
    expect(only.body).to.equal({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      id,
      userName: 'd.four@x.org',
    });
    const { body } = await acme.ask('GET', `/Users/${id}?excludedAttributes=groups,meta,active`);
    expect(Object.keys(body)).to.equal(['schemas', 'id', 'userName', 'displayName']);
  });

  it('changes nothing if the version is another', async () => {
    const { id, meta } = await acme.create('e.five@x.org');
    const path = `/Users/${id}`;
    const rename = [{ op: 'replace', path: 'displayName', value: 'Five' }];
    const first = await acme.patch(path, rename, { 'if-match': meta.version });
    expect([first.status, first.headers.etag === meta.version]).to.equal([200, false]);
    const late = [
      await acme.patch(path, rename, { 'if-match': meta.version }),
      await acme.ask('PUT', path, { userName: 'x' }, { 'if-match': meta.version }),
      await acme.ask('DELETE', path, undefined, { 'if-match': `"1", ${meta.version}` }),
    ];
    expect(late.map(({ status, body }) => [status, body.status, body.schemas])).to.equal(
      late.map(() => [412, '412', [ERROR]]),
    );
    const etag = first.headers.etag ?? '';
    const same = await acme.ask('GET', path, undefined, { 'if-none-match': etag });
    expect(same.status).to.equal(304);
    expect((await acme.patch(path, rename, { 'if-match': '*' })).status).to.equal(200);
    const group = await acme.ask('POST', '/Groups', { displayName: 'Five' });
    const stale = { 'if-match': group.headers.etag ?? '' };
    const members = [{ op: 'add', path: 'members', value: [{ value: id }] }];
    const statuses = [
      await acme.patch(`/Groups/${group.body.id}`, members, stale),
      await acme.patch(`/Groups/${group.body.id}`, members, stale),
    ];
    expect(statuses.map(({ status }) => status)).to.equal([204, 412]);
  });

  it('processes several requests, which may refer to each other', async () => {
    const { status, body } = await acme.ask('POST', '/Bulk', {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
      failOnErrors: 2,
      Operations: [
        { method: 'POST', path: '/Users', bulkId: 'u', data: { userName: 'bulk@x.org' } },
        {
          method: 'post',
          path: '/Groups',
          bulkId: 'g',
          data: { displayName: 'Bulk', members: [{ value: 'bulkId:u' }] },
        },
        { method: 'POST', path: '/Users', bulkId: 'again', data: { userName: 'bulk@x.org' } },
        {
          method: 'PATCH',
          path: '/Groups/bulkId:g',
          data: { Operations: [{ op: 'replace', value: { displayName: 'Big' } }] },
        },
        { method: 'DELETE', path: '/Users/bulkId:nobody' },
        { method: 'DELETE', path: '/Users/bulkId:u' },
      ],
    });
    const { schemas, Operations } = body;
    expect([status, schemas]).to.equal([
      200,
      ['urn:ietf:params:scim:api:messages:2.0:BulkResponse'],
    ]);
    expect(
      Operations.map((each: { status: string; response?: { scimType: string } }) =>
        [each.status, each.response?.scimType].join(' '),
      ),
    ).to.equal(['201 ', '201 ', '409 uniqueness', '204 ', '400 invalidValue']);
    const [, group] = Operations;
    const { pathname } = new URL(group.location);
    const read = await acme.ask('GET', pathname.replace(SCIM, ''));
    expect([read.body.displayName, read.body.members[0].display]).to.equal(['Big', 'bulk@x.org']);
    const many = Array.from({ length: 1001 }, () => ({ method: 'DELETE', path: '/Users/x' }));
    expect((await acme.ask('POST', '/Bulk', { Operations: many })).status).to.equal(413);
  });

  it('replies to every error in its own form', async () => {
    const { token } = acme;
    const call = (method: string, path: string, more: object = {}) =>
      app.call(method, `${SCIM}${path}`, { token, ...more });
    const replies = [
      await call('GET', '/Users', { token: undefined }),
      await call('GET', '/Users', { token: `${token.slice(0, -1)}-` }),
      await call('GET', '/Nothing'),
      await call('POST', '/ServiceProviderConfig'),
      await call('POST', '/Users', { body: '{"userName"' }),
      await call('POST', '/Users', { body: '[]' }),
      await call('POST', '/Users', { body: '<user/>', type: 'text/xml' }),
      await call('POST', '/Users', { body: { userName: 7 } }),
      await call('POST', '/Users', { body: { displayName: 'no name' } }),
      await call('POST', '/Users', { body: { userName: 'x'.repeat(255) } }),
      await call('GET', '/Users?startIndex=one'),
      await call('PATCH', '/Users/identity_unknown', { body: { Operations: [] } }),
    ];
    expect(
      replies.map(({ status, body, headers }) => [
        status,
        body.status,
        body.schemas,
        typeof body.detail,
        headers['content-type'],
      ]),
    ).to.equal(
      [401, 401, 404, 404, 400, 400, 415, 400, 400, 400, 400, 404].map((status) => [
        status,
        String(status),
        [ERROR],
        'string',
        'application/scim+json',
      ]),
    );
  });

  it('counts and pages more than ten thousand users', async () => {
    const big = await provision(app, 'big');
    const id = await seedUsers(app, big, MANY);
    const page = async (query: string) => {
      const { totalResults, startIndex, itemsPerPage, Resources } = (
        await big.ask('GET', `/Users?${query}`)
      ).body;
      const ids = Resources.map((user: { id: string }) => user.id);
      return [totalResults, startIndex, itemsPerPage, ids[0], ids.at(-1)];
    };
    expect(await page('')).to.equal([MANY, 1, 100, id(1), id(100)]);
    expect(await page('startIndex=10001&count=200')).to.equal([
      MANY,
      10_001,
      50,
      id(10_001),
      id(MANY),
    ]);
    expect(await page('startIndex=0&count=5000')).to.equal([MANY, 1, 1000, id(1), id(1000)]);
    expect(await page('count=0')).to.equal([MANY, 1, 0, undefined, undefined]);
    expect(await page('count=-1')).to.equal([MANY, 1, 0, undefined, undefined]);
    const active = `filter=${encodeURIComponent('active eq true and userName co "big"')}`;
    expect(await page(`${active}&startIndex=5000&count=3`)).to.equal([
      MANY / 2,
      5000,
      3,
      id(9999),
      id(10_003),
    ]);
  });
});
