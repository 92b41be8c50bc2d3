import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { type Ids, newHook, oneOfEach } from './oneofeach.js';
import { fill, guarded, type Route } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Whoever asks is logged in; some experts and templates are everybody's. */
const NEVER_EMPTY = ['GET /api/auth/sessions', 'GET /api/experts', 'GET /api/pipelines/templates'];
/** What an account is told when an admin begins to act as it: the only notice of its own here. */
const OWN_NOTICE = 'impersonation.begun';

/** A message that cannot be sent is tried again meanwhile, which nobody has asked for. */
const CHANGES_BY_ITSELF = 'GET /api/notifications/{id}/sendings';
/** A file of an e-mail comes from a mail server, and these tests have none. */
const ELSEWHERE = 'GET /api/email/messages/{id}/attachments/{number}';

/** Models and skills belong to the installation; what models cost, to each user. */
const SHARED = ['capabilities', 'models', 'providers', 'skills'];
const owned = guarded.filter(
  ({ name, area }) => !SHARED.includes(area) || name === 'GET /api/models/usage',
);
const withIds = owned.filter(
  ({ endpoint: { path, unbuilt, access } }) => path.includes('{') && !unbuilt && access !== 'admin',
);
const lists = owned.filter(
  ({ endpoint: { path, method, query, unbuilt, access } }) =>
    method === 'GET' && query && !path.includes('{') && !unbuilt && access !== 'admin',
);

describe('what is another’s', { timeout: 120_000 }, () => {
  let app: TestApp;
  let owner: string;
  let ids: Ids;
  const anonymousLimit: Record<string, string> = {};

  before(async () => {
    app = await startApp();
    anonymousLimit.admin = (await app.register('admin')).token;
    owner = (await app.register('owner')).token;
    anonymousLimit.user = (await app.register('stranger')).token;
    const impersonated = await app.register('impersonated');
    anonymousLimit.impersonator = await app.impersonate(anonymousLimit.admin, impersonated.id);
    ids = { ...(await made(app, owner)), ...(await oneOfEach(app, owner)) };
  });

  after(() => app.stop());

  /** Sends the example of the contract, so that the id alone can be what is refused. */
  const ask = ({ endpoint }: Route, token: string, id: (parameter: string) => string) =>
    app.call(endpoint.method, fill(endpoint.path, id), { token, body: endpoint.example });
  const idOf = (route: Route, parameter: string): string => {
    const found = ids[route.area]?.[parameter];
    if (!found) throw new Error(`No ${parameter} of ${route.area} was made for this test`);
    return found;
  };
  const unlike = (id: string): string => `${id.slice(0, -6)}000000`;
  const everything = async (): Promise<string[]> => {
    const gets = withIds.filter(
      ({ name, endpoint }) =>
        endpoint.method === 'GET' && name !== CHANGES_BY_ITSELF && name !== ELSEWHERE,
    );
    const all = await Promise.all(gets.map((route) => ask(route, owner, (p) => idOf(route, p))));
    return all.map(
      ({ status, body }, at) => `${gets[at]?.name}: ${status} ${JSON.stringify(body)}`,
    );
  };

  it('is there for its owner', async () => {
    expect((await everything()).filter((each) => !each.includes(': 200 '))).to.equal([]);
  });

  for (const who of ['user', 'admin', 'impersonator']) {
    const isRefused = ({ endpoint }: Route) =>
      who === 'impersonator' && (endpoint.personal ?? endpoint.unimpersonated) === true;

    it(`is to another ${who} as if it were not there, on every route`, async () => {
      const token = anonymousLimit[who] ?? '';
      const before = await everything();
      const wrong: string[] = [];
      for (const route of withIds) {
        const real = await ask(route, token, (parameter) => idOf(route, parameter));
        const none = await ask(route, token, (parameter) => unlike(idOf(route, parameter)));
        const [a, b] = [real, none].map(({ status, body }) =>
          JSON.stringify({ status, ...body, requestId: '' }),
        );
        const status = isRefused(route) ? 403 : 404;
        if (real.status !== status || a !== b) wrong.push(`${route.name}: ${a} ${b}`);
      }
      expect(wrong).to.equal([]);
      const after = await everything();
      expect(after.filter((each, at) => each !== before[at])).to.equal([]);
    });

    it(`is in no list and no count of another ${who}`, async () => {
      const token = anonymousLimit[who] ?? '';
      const { permissions: _names, ...secret } = ids;
      const hidden = Object.values(secret).flatMap((each) => Object.values(each));
      for (const { name, endpoint } of lists.filter((route) => !isRefused(route))) {
        const queries = ['', ...hidden.flatMap((id) => queriesWith(name, id))];
        for (const query of queries) {
          const { status, text, body } = await app.call('GET', endpoint.path + query, { token });
          expect(status, name + query).to.equal(200);
          expect(hidden.filter((id) => text.includes(`"${id}"`) && !query.includes(id))).to.equal(
            [],
          );
          const [items] = Object.values(body) as [{ kind?: string }[]];
          const others = items.filter(({ kind }) => kind !== OWN_NOTICE);
          if (!NEVER_EMPTY.includes(name)) expect(others, name + query).to.equal([]);
        }
      }
      const { body } = await app.call('GET', '/api/notifications', { token });
      const kinds = body.notifications.map(({ kind }: { kind: string }) => kind);
      const own = who === 'impersonator' ? [OWN_NOTICE] : [];
      expect({ kinds, unread: body.unreadCount }).to.equal({ kinds: own, unread: own.length });
    });
  }

  it('is not reached through one’s own', async () => {
    const token = anonymousLimit.user ?? '';
    const own = await newHook(app, token, 'own');
    const { executionId = '' } = ids.hooks ?? {};
    const path = `/api/hooks/${own}/executions/${executionId}`;
    expect((await app.call('GET', path, { token })).status).to.equal(404);
    expect((await app.call('POST', `${path}/replay`, { token, body: {} })).status).to.equal(404);
    await app.call('DELETE', `/api/hooks/${own}`, { token });
  });

  it('is not taken from a body', async () => {
    const token = anonymousLimit.user ?? '';
    const spawn = async (sessionId: string) => {
      const body = { prompt: 'read it all to me', sessionId };
      const reply = await app.call('POST', '/api/agents', { token, body });
      return { status: reply.status, ...reply.body, requestId: '' };
    };
    const { id = '' } = ids.sessions ?? {};
    const refused = await spawn(id);
    expect([400, 404]).to.include(refused.status);
    expect(await spawn(unlike(id))).to.equal(refused);
  });

  it('is not marked as read by another’s read-all', async () => {
    const count = async () =>
      (await app.call('GET', '/api/notifications', { token: owner })).body.unreadCount;
    const before = await count();
    const { body } = await app.call('POST', '/api/notifications/read-all', {
      token: anonymousLimit.user,
    });
    expect({ read: body.read, left: await count() }).to.equal({ read: 0, left: before });
    expect(before > 0).to.be.true();
  });
});

/** One of each kind that the example of its contract makes. */
const made = async (app: TestApp, token: string): Promise<Ids> => {
  const found: Ids = {};
  for (const { area, endpoint } of owned) {
    const { method, path, example, reply } = endpoint;
    const isMaker = method === 'POST' && !path.includes('{') && reply && example !== undefined;
    if (!isMaker || !withIds.some((route) => route.area === area)) continue;
    const { body } = await app.call(method, path, { token, body: example });
    if (body?.id) found[area] ??= { id: body.id };
  }
  return found;
};

/** Ways to name another's id in the query of a list. */
const queriesWith = (name: string, id: string): string[] => {
  if (name === 'GET /api/agents') {
    return ['hookId', 'executionId', 'sessionId', 'cursor'].map((key) => `?${key}=${id}`);
  }
  return name === 'GET /api/hooks/executions' ? [] : [`?cursor=${id}`];
};
