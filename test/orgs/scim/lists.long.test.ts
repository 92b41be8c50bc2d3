import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../../harness/app.js';
import { type Provisioned, provision, walk } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const USERS = 10_000;
const BULK = 1000;

describe('10,000 provisioned users', () => {
  let app: TestApp;
  let acme: Provisioned;
  let created: string[];
  before(async () => {
    app = await startApp({ checkedReplies: 1 });
    const { token } = await app.register('admin');
    acme = await provision(app, 'acme');
    const path = `/api/admin/orgs/${acme.orgId}`;
    await app.call('PATCH', path, { token, body: { maxMembers: USERS + 1 } });
    created = [];
    for (let from = 0; from < USERS; from += BULK) created.push(...(await createUsers(from)));
  });
  after(() => app.stop());

  /** Returns the IDs. */
  const createUsers = async (from: number): Promise<string[]> => {
    const Operations = Array.from({ length: BULK }, (_, n) => ({
      method: 'POST',
      path: '/Users',
      bulkId: String(n),
      data: { userName: `user${from + n}@x.org` },
    }));
    const { body } = await acme.ask('POST', '/Bulk', { Operations });
    return body.Operations.map(({ status, location }: { status: string; location: string }) => {
      expect(status).to.equal('201');
      return location.slice(location.lastIndexOf('/') + 1);
    });
  };

  it('are each on exactly one page, for every order and size of page', async () => {
    const wanted = [...created].sort();
    expect(new Set(wanted).size).to.equal(USERS);
    const queries: Record<string, string>[] = [
      { count: '1000' },
      { count: '333', attributes: 'id' },
      { count: '1000', sortBy: 'userName', sortOrder: 'descending' },
      { count: '999', sortBy: 'active', filter: 'active eq true' },
    ];
    for (const query of queries) {
      const pages = await walk(acme, '/Users', query);
      expect(pages.map(({ totalResults }) => totalResults)).to.equal(pages.map(() => USERS));
      const ids = pages.flatMap(({ Resources }) => Resources.map(({ id }) => id));
      expect(ids.sort(), JSON.stringify(query)).to.equal(wanted);
    }
  });

  it('are found by userName', async () => {
    for (const n of [0, 4999, USERS - 1]) {
      const filter = encodeURIComponent(`userName eq "USER${n}@x.org"`);
      const { totalResults, Resources } = (await acme.ask('GET', `/Users?filter=${filter}`)).body;
      expect([totalResults, Resources[0].id]).to.equal([1, created[n]]);
    }
  });
});
