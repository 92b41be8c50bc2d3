import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  lists,
  MEMBERS,
  naming,
  type Orgs,
  OUTSIDERS,
  openOrgs,
  pathOf,
  references,
  sharedLists,
  withPath,
} from './orgisolated.js';
import type { Route } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ORGS = ['orgs', 'audit'];
/** Their replies contain organizations. */
const OF_ORGS = ['GET /api/orgs'];

describe('the resources of an organization', () => {
  let orgs: Orgs;
  let faults: string[] = [];

  before(async () => {
    orgs = await openOrgs();
  });
  after(() => orgs.stop());

  const none = () => {
    const found = faults;
    faults = [];
    expect(found).to.equal([]);
  };
  const callOf = (route: Route, path: string) => ({
    method: route.endpoint.method,
    path,
    body: route.endpoint.method === 'GET' ? undefined : route.endpoint.example,
  });

  it('exist for every shared path', () => {
    const missing = withPath.filter(
      (route) => route.endpoint.shared && pathOf(route, orgs.ids)?.includes('//') !== false,
    );
    expect(missing.map(({ name }) => name)).to.equal([]);
  });

  for (const who of OUTSIDERS) {
    it(`are hidden from ${who} like an unknown ID, on every path`, async () => {
      for (const route of withPath) {
        if (pathOf(route, orgs.ids) === null) continue;
        const call = (as: (id: string) => string) =>
          callOf(route, pathOf(route, orgs.ids, as) ?? '');
        faults.push(...(await orgs.isHidden(who, call)));
      }
      none();
    });

    it(`are hidden from ${who} who names the organization`, async () => {
      for (const route of sharedLists) {
        const call = (as: (id: string) => string) => naming(route.endpoint, as(orgs.acme));
        faults.push(...(await orgs.isHidden(who, call)));
      }
      none();
    });

    it(`are in no list of ${who}`, async () => {
      for (const { endpoint } of lists) {
        faults.push(...(await orgs.isSilent(who, { method: 'GET', path: endpoint.path })));
      }
      none();
    });

    it(`are not used by a call of ${who}`, async () => {
      for (const reference of Object.values(references)) {
        const call = (as: (id: string) => string) =>
          reference((area) => as(orgs.ids[area]?.id ?? ''));
        faults.push(...(await orgs.isHidden(who, call)));
      }
      none();
    });
  }

  for (const who of MEMBERS) {
    it(`are read and not changed by ${who}, on every path`, async () => {
      for (const route of withPath) {
        const { method, shared } = route.endpoint;
        const path = pathOf(route, orgs.ids);
        if (path === null || ORGS.includes(route.area)) continue;
        const call = callOf(route, path);
        if (shared === 'admin') faults.push(...(await orgs.needsAdmin(who, call)));
        else if (shared === undefined) {
          const hidden = (as: (id: string) => string) =>
            callOf(route, pathOf(route, orgs.ids, as) ?? '');
          faults.push(...(await orgs.isHidden(who, hidden)));
        } else if (method === 'GET') faults.push(...(await orgs.isShown(who, call)));
      }
      none();
    });

    it(`are not created by ${who} where an admin is required`, async () => {
      for (const route of sharedLists) {
        const { shared, method } = route.endpoint;
        const call = naming(route.endpoint, orgs.acme);
        if (shared === 'admin') faults.push(...(await orgs.needsAdmin(who, call)));
        else if (method === 'GET') faults.push(...(await orgs.isShown(who, call)));
      }
      none();
    });

    it(`are in no personal list of ${who}`, async () => {
      for (const route of lists) {
        const { path, shared, personal: own } = route.endpoint;
        if (OF_ORGS.includes(route.name) || (own && who === 'memberToken')) continue;
        const personal = shared ? '?orgId=personal' : '';
        faults.push(...(await orgs.isSilent(who, { method: 'GET', path: path + personal })));
        faults.push(...(await orgs.isShown(who, { method: 'GET', path })));
      }
      none();
    });
  }

  it('do not mix with those of an admin', async () => {
    const { acme, ids, own } = orgs;
    for (const [name, reference] of Object.entries(references)) {
      const personal = (as: (id: string) => string) => reference((area) => as(ids[area]?.id ?? ''));
      faults.push(...(await orgs.isHidden('admin', personal)));
      const shared = (as: (id: string) => string) => {
        const { body, ...call } = reference((area) => as(own.admin[area]?.id ?? ''));
        return { ...call, body: { ...Object(body), orgId: acme } };
      };
      faults.push(...(await orgs.isHidden('admin', shared)).map((fault) => `${name}: ${fault}`));
    }
    none();
  });

  it('is enough', () => {
    console.log('checks', orgs.count());
  });
});
