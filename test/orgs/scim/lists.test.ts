import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { recordStatements } from '../../generated/plans.js';
import { startApp, type TestApp } from '../../harness/app.js';
import { type Provisioned, provision, seedGroups, seedUsers, walk } from '../../harness/scim.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MAX_LINKS = 10_000;
const THOUSAND = 1000;

describe('a list of SCIM', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
    await app.register('admin');
  });
  after(() => app.stop());

  it('is walked by startIndex and count, and has each user exactly once', async () => {
    const acme = await provision(app, 'acme');
    const created: string[] = [];
    for (let n = 1; n <= 30; n++) created.push((await acme.create(`user${n}@x.org`)).id);
    const pages = await walk(acme, '/Users', { count: '7' });
    expect(pages.map(({ startIndex, itemsPerPage }) => [startIndex, itemsPerPage])).to.equal([
      [1, 7],
      [8, 7],
      [15, 7],
      [22, 7],
      [29, 2],
    ]);
    expect(pages.map(({ totalResults }) => totalResults)).to.equal(pages.map(() => 30));
    const ids = pages.flatMap(({ Resources }) => Resources.map(({ id }) => id));
    expect(ids).to.equal([...created].sort());
    const sorted = await walk(acme, '/Users', { count: '7', sortBy: 'userName' });
    const names = sorted.flatMap(({ Resources }) => Resources.map(({ userName }) => userName));
    expect(names).to.equal([...names].sort());
    expect(new Set(names).size).to.equal(30);
  });

  it('finds a user or group by its name with an index', async () => {
    const acme = await provision(app, 'indexed');
    await acme.create('ada@x.org');
    await acme.ask('POST', '/Groups', { displayName: 'Ours' });
    const plans = new Database(join(app.home, 'adjutant.db'), { readonly: true });
    const wanted = {
      '/Users?filter=userName eq "ada@x.org"': 'user_name_key=?',
      '/Users?filter=externalId eq "00u1"': 'external_id=?',
      '/Groups?filter=displayName eq "ours"': 'display_key=?',
    };
    for (const [path, condition] of Object.entries(wanted)) {
      const recording = recordStatements();
      const { status } = await acme.ask('GET', encodeURI(path));
      const found = [...recording.stop()].filter((sql) =>
        /"(user_name_key|external_id|display_key)" (=|IS) \?/.test(sql),
      );
      expect([status, found.length], path).to.equal([200, 2]);
      for (const sql of found) {
        const blanks = Array.from({ length: sql.split('?').length - 1 }, () => null);
        const plan = plans.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...blanks);
        const details = plan.map((step) => (step as { detail: string }).detail).join('\n');
        expect(details, sql).to.contain(`(org_id=? AND ${condition})`);
        expect(details, sql).to.not.contain('SCAN');
      }
    }
    plans.close();
  });
});

describe('a list of SCIM with memberships', () => {
  let app: TestApp;
  let acme: Provisioned;
  let userId: (n: number) => string;
  before(async () => {
    app = await startApp();
    await app.register('admin');
    acme = await provision(app, 'acme');
    userId = await seedUsers(app, acme, MAX_LINKS + 1);
    await seedGroups(app, acme, { name: 'team', count: 25, members: THOUSAND });
    await seedGroups(app, acme, { name: 'whole', count: 1, members: MAX_LINKS + 1 });
  });
  after(() => app.stop());

  const sizes = async (path: string, query: Record<string, string> = {}): Promise<number[]> =>
    (await walk(acme, path, { count: '1000', ...query })).map(({ itemsPerPage }) => itemsPerPage);

  it('ends a page of groups at 10,000 members, and is continued after the last group', async () => {
    const pages = await walk(acme, '/Groups');
    expect(pages.map(({ itemsPerPage }) => itemsPerPage)).to.equal([10, 10, 5, 1]);
    const groups = pages.flatMap(({ Resources }) => Resources);
    expect(new Set(groups.map(({ id }) => id)).size).to.equal(26);
    expect(groups.map(({ members }) => members.length)).to.equal([
      ...Array.from({ length: 25 }, () => THOUSAND),
      MAX_LINKS + 1,
    ]);
    expect(groups[0].members[999].value).to.equal(userId(THOUSAND));
  });

  it('has all groups on a page without their members', async () => {
    expect(await sizes('/Groups', { excludedAttributes: 'members' })).to.equal([26]);
    expect(await sizes('/Groups', { attributes: 'displayName' })).to.equal([26]);
    const { body } = await acme.ask('GET', '/Groups?attributes=displayName,Members.value');
    expect(body.itemsPerPage).to.equal(10);
  });

  it('ends a page of users at 10,000 groups, unless the groups are left out', async () => {
    const filter = `id le "${userId(THOUSAND)}"`;
    // Each belongs to 26 groups.
    expect(await sizes('/Users', { filter })).to.equal([384, 384, 232]);
    expect(await sizes('/Users', { filter, attributes: 'userName' })).to.equal([THOUSAND]);
  });

  it('reads no memberships that are left out', async () => {
    for (const path of ['/Users?attributes=userName', '/Groups?excludedAttributes=members']) {
      const recording = recordStatements();
      const { status } = await acme.ask('GET', path);
      const read = [...recording.stop()].filter((sql) => sql.includes('org_group_members'));
      expect([path, status, read]).to.equal([path, 200, []]);
    }
  });

  it('returns a changed group without its members on request', async () => {
    const [group] = (await acme.ask('GET', '/Groups?count=1')).body.Resources;
    const path = `/Groups/${group.id}?excludedAttributes=members`;
    const { status, body } = await acme.ask('PUT', path, group);
    expect([status, body.displayName, body.members]).to.equal([200, 'team1', undefined]);
    expect((await acme.ask('GET', `/Groups/${group.id}`)).body.members.length).to.equal(THOUSAND);
  });
});
