import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  callOf,
  idFields,
  lists,
  naming,
  type Orgs,
  openOrgs,
  pathOf,
  references,
  sharedLists,
  withField,
  withoutPath,
  withPath,
} from './orgisolated.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ORGS = ['orgs', 'audit'];
/** Contains the organization itself. */
const OF_ORGS = 'GET /api/orgs';
/** Named by the body, so that the call is for its owner. */
const BY_OWNER = ['a conversation to go on with', 'a template to run', 'an approval'];

describe('the resources of an organization', () => {
  let orgs: Orgs;
  const faults: string[] = [];
  const expectNone = () => expect(faults.splice(0)).to.equal([]);

  before(async () => {
    orgs = await openOrgs();
  });
  after(() => orgs.stop());

  it('exist for every shared path', () => {
    const missing = withPath.filter(
      (route) => route.endpoint.shared && pathOf(route, orgs.ids)?.includes('//') !== false,
    );
    expect(missing.map(({ name }) => name)).to.equal([]);
  });

  it('are hidden from strangers like an unknown ID, on every path', async () => {
    for (const [at, route] of withPath.entries()) {
      if (pathOf(route, orgs.ids) === null) continue;
      const call = (as: (id: string) => string) => callOf(route, pathOf(route, orgs.ids, as) ?? '');
      const who = at % 2 ? 'stranger' : 'other';
      faults.push(...(await orgs.isHidden(who, call)));
    }
    expectNone();
  });

  it('are hidden from strangers who name the organization', async () => {
    for (const [at, { endpoint }] of sharedLists.entries()) {
      const call = (as: (id: string) => string) => naming(endpoint, as(orgs.acme));
      faults.push(...(await orgs.isHidden(at % 2 ? 'other' : 'stranger', call)));
    }
    expectNone();
  });

  it('are in no list of strangers', async () => {
    for (const who of ['stranger', 'other'] as const) {
      for (const { endpoint } of lists) {
        faults.push(...(await orgs.isSilent(who, { method: 'GET', path: endpoint.path })));
      }
    }
    expectNone();
  });

  it('are not used by calls of strangers', async () => {
    const own = await orgs.own('stranger');
    for (const reference of Object.values(references)) {
      faults.push(
        ...(await orgs.works(
          'stranger',
          reference((area) => own[area]?.id ?? ''),
        )),
      );
      const call = (as: (id: string) => string) =>
        reference((area) => as(orgs.ids[area]?.id ?? ''));
      faults.push(...(await orgs.isHidden('stranger', call)));
    }
    for (const route of withoutPath) {
      for (const field of idFields(route)) {
        const call = (as: (id: string) => string) => ({
          ...callOf(route, route.endpoint.path),
          body: withField(route, field, as(orgs.fitting(field))),
        });
        faults.push(...(await orgs.isHidden('stranger', call)));
      }
    }
    expectNone();
  });

  it('are read and not changed by a member, on every path', async () => {
    for (const [at, route] of withPath.entries()) {
      const { method, shared } = route.endpoint;
      const path = pathOf(route, orgs.ids);
      if (path === null || ORGS.includes(route.area)) continue;
      const who = at % 2 ? 'member' : 'memberToken';
      const call = callOf(route, path);
      if (shared === 'admin') faults.push(...(await orgs.needsAdmin(who, call)));
      else if (shared === 'member' && method === 'GET')
        faults.push(...(await orgs.works(who, call)));
      else if (shared === undefined) {
        const hidden = (as: (id: string) => string) =>
          callOf(route, pathOf(route, orgs.ids, as) ?? '');
        faults.push(...(await orgs.isHidden(who, hidden)));
      }
    }
    expectNone();
  });

  it('are not created by a member where an admin is required', async () => {
    for (const [at, { endpoint }] of sharedLists.entries()) {
      const who = at % 2 ? 'member' : 'memberToken';
      const call = naming(endpoint, orgs.acme);
      if (endpoint.shared === 'admin') faults.push(...(await orgs.needsAdmin(who, call)));
      else if (endpoint.method === 'GET') faults.push(...(await orgs.works(who, call)));
    }
    expectNone();
  });

  it('are in the lists of a member, and in no personal one', async () => {
    for (const { name, endpoint } of lists) {
      const { path, shared } = endpoint;
      if (name === OF_ORGS) continue;
      const own = { method: 'GET', path: shared ? `${path}?orgId=personal` : path };
      faults.push(...(await orgs.isSilent('member', own)));
      faults.push(...(await orgs.works('member', { method: 'GET', path })));
    }
    expectNone();
  });

  it('do not mix with those of an admin', async () => {
    const { acme, ids } = orgs;
    const own = await orgs.own('admin');
    for (const [name, reference] of Object.entries(references)) {
      const personal = (as: (id: string) => string) => reference((area) => as(ids[area]?.id ?? ''));
      if (!BY_OWNER.includes(name)) faults.push(...(await orgs.isHidden('admin', personal)));
      const shared = (as: (id: string) => string) => {
        const { body, ...call } = reference((area) => as(own[area]?.id ?? ''));
        return { ...call, body: { ...Object(body), orgId: acme } };
      };
      faults.push(...(await orgs.isHidden('admin', shared)));
    }
    expectNone();
  });

  it('are changed by an admin like those of another organization by its owner', async () => {
    const own = await orgs.own('other');
    const isLast = ({ endpoint }: (typeof withPath)[number]) => endpoint.method === 'DELETE';
    const shared = withPath.filter(({ endpoint }) => endpoint.shared !== undefined);
    for (const route of [
      ...shared.filter((each) => !isLast(each)),
      ...shared.filter(isLast).reverse(),
    ]) {
      const call = callOf(route, pathOf(route, orgs.ids) ?? '');
      faults.push(...(await orgs.isAllowed(call, callOf(route, pathOf(route, own) ?? ''))));
    }
    expectNone();
  });

  it('were tried in hundreds of ways', () => {
    expect(orgs.count()).to.be.above(600);
  });
});
