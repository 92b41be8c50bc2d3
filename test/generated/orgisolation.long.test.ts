import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  callOf,
  idFields,
  idQueries,
  lists,
  MEMBERS,
  naming,
  type Orgs,
  OUTSIDERS,
  openOrgs,
  pathOf,
  sharedLists,
  withField,
  withoutPath,
  withPath,
} from './orgisolated.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('every resource of an organization', () => {
  let orgs: Orgs;
  const faults: string[] = [];
  const expectNone = () => expect(faults.splice(0)).to.equal([]);

  before(async () => {
    orgs = await openOrgs();
  });
  after(() => orgs.stop());

  for (const who of OUTSIDERS) {
    it(`is hidden from ${who} like an unknown ID, on every path`, async () => {
      for (const route of withPath) {
        if (pathOf(route, orgs.ids) === null) continue;
        const call = (as: (id: string) => string) =>
          callOf(route, pathOf(route, orgs.ids, as) ?? '');
        faults.push(...(await orgs.isHidden(who, call)));
      }
      expectNone();
    });

    it(`is hidden from ${who} who names the organization`, async () => {
      for (const { endpoint } of sharedLists) {
        const call = (as: (id: string) => string) => naming(endpoint, as(orgs.acme));
        faults.push(...(await orgs.isHidden(who, call)));
      }
      expectNone();
    });

    it(`is in no list of ${who}, whatever the query names`, async () => {
      for (const route of lists) {
        const { path } = route.endpoint;
        const values = [...orgs.hidden, orgs.acme];
        const queries = idQueries(route).flatMap((key) => values.map((id) => `?${key}=${id}`));
        for (const query of ['', ...queries]) {
          faults.push(...(await orgs.isSilent(who, { method: 'GET', path: path + query })));
        }
      }
      expectNone();
    });
  }

  for (const who of ['stranger', 'other'] as const) {
    it(`is not reached by ${who} through an own resource`, async () => {
      const own = await orgs.own(who);
      for (const route of withPath) {
        const path = pathOf(route, own);
        const { id = '' } = own[route.area] ?? {};
        const others = Object.entries({ ...orgs.ids[route.area] }).filter(
          ([key, value]) =>
            route.endpoint.path.includes(`{${key}}`) && key !== 'id' && value.includes('_'),
        );
        if (path === null || others.length === 0) continue;
        const call = (as: (id: string) => string) => {
          const theirs = Object.fromEntries(others.map(([key, value]) => [key, as(value)]));
          const ids = { [route.area]: { ...own[route.area], ...theirs, id } };
          return callOf(route, pathOf(route, ids) ?? '');
        };
        faults.push(...(await orgs.isHidden(who, call)));
      }
      expectNone();
    });
  }

  it('is not used by a stranger, in any field of a body', async () => {
    for (const route of withoutPath) {
      for (const field of idFields(route)) {
        for (const id of orgs.hidden) {
          const call = (as: (id: string) => string) => ({
            ...callOf(route, route.endpoint.path),
            body: withField(route, field, as(id)),
          });
          faults.push(...(await orgs.isHidden('stranger', call)));
        }
      }
    }
    expectNone();
  });

  it('is not used by changes of own resources of a stranger', async () => {
    const own = await orgs.own('stranger');
    for (const route of withPath) {
      const path = pathOf(route, own);
      if (path === null || route.endpoint.method === 'DELETE') continue;
      for (const field of idFields(route)) {
        const call = (as: (id: string) => string) => ({
          ...callOf(route, path),
          body: withField(route, field, as(orgs.fitting(field))),
        });
        faults.push(...(await orgs.isHidden('stranger', call)));
      }
    }
    expectNone();
  });

  for (const who of MEMBERS) {
    it(`is changed by ${who} only where a member may`, async () => {
      for (const route of withPath.filter(({ endpoint }) => endpoint.shared === 'admin')) {
        const call = callOf(route, pathOf(route, orgs.ids) ?? '');
        faults.push(...(await orgs.needsAdmin(who, call)));
      }
      for (const { endpoint } of sharedLists.filter(({ endpoint: e }) => e.shared === 'admin')) {
        faults.push(...(await orgs.needsAdmin(who, naming(endpoint, orgs.acme))));
      }
      expectNone();
    });
  }

  it('was tried in more than 5,000 ways', () => {
    expect(orgs.count()).to.be.above(5000);
  });
});
