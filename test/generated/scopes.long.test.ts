import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { getEndpointScope } from '../../src/kernel/scope.js';
import { endpoints } from '../harness/api.js';
import { startApp, type TestApp } from '../harness/app.js';
import { makeToken } from '../harness/token.js';
import { fill, guarded, NOBODYS, type Route, routes } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** What a token may ask of the account that it belongs to. */
const OPEN_TO_TOKENS = ['GET /api/auth/me', 'POST /api/auth/ws-ticket'];
/** What an admin may end who acts as somebody else. */
const OPEN_TO_IMPERSONATION = [...OPEN_TO_TOKENS, 'POST /api/auth/logout'].sort();

const isAccount = ({ name }: Route): boolean => name.includes(' /api/auth/');
const isPersonal = (route: Route): boolean =>
  route.endpoint.personal === true || (isAccount(route) && !OPEN_TO_TOKENS.includes(route.name));
const scoped = guarded.filter(
  (route) => !isPersonal(route) && getEndpointScope(route.endpoint) !== null,
);
const known = [...new Set(scoped.map(({ endpoint }) => getEndpointScope(endpoint) ?? ''))].sort();

describe('a personal access token', () => {
  let app: TestApp;
  let session: string;

  before(async () => {
    app = await startApp();
    session = (await app.register('admin')).token;
  });
  after(() => app.stop());

  /** With a query and a body that nothing takes: a refusal that comes first names neither. */
  const ask = ({ endpoint: { method, path } }: Route, token: string) =>
    app.call(method, `${fill(path, () => NOBODYS)}?limit=x`, {
      token,
      ...(method !== 'GET' && { body: '{', type: 'text/plain' }),
    });
  const codes = async (of: Route[], token: string): Promise<Record<string, string>> => {
    const answers: Record<string, string> = {};
    for (const route of of) {
      const { status, body } = await ask(route, token);
      // Errors of SCIM have the form of RFC 7644, without our code.
      const reason = route.endpoint.scim
        ? `scope_missing ${body?.detail}`
        : `${body?.code ?? ''} ${body?.message ?? ''}`;
      answers[route.name] = `${status} ${reason}`;
    }
    return answers;
  };

  it('finds every area under a scope', () => {
    expect(known.length > 40).to.be.true();
    expect(
      guarded.filter((each) => !isAccount(each) && getEndpointScope(each.endpoint) === null),
    ).to.equal([]);
  });

  it('without the scope is refused on every route before anything else is looked at', async () => {
    for (const scope of known) {
      const others = known.filter((each) => each !== scope);
      const { id, token } = await makeToken(app, session, { scopes: others });
      const needing = scoped.filter(({ endpoint }) => getEndpointScope(endpoint) === scope);
      const answers = Object.values(await codes(needing, token));
      const wanted = `403 scope_missing The token lacks the scope ${scope}`;
      expect([scope, ...answers.filter((answer) => answer !== wanted)]).to.equal([scope]);
      await app.call('DELETE', `/api/auth/tokens/${id}`, { token: session });
    }
  });

  it('with the one scope is refused nowhere that this is the scope of', async () => {
    for (const scope of known) {
      const { id, token } = await makeToken(app, session, { scopes: [scope] });
      const having = scoped.filter(({ endpoint }) => getEndpointScope(endpoint) === scope);
      const answers = Object.entries(await codes(having, token));
      expect([scope, ...answers.filter(([, answer]) => /^(401|403) /.test(answer))]).to.equal([
        scope,
      ]);
      await app.call('DELETE', `/api/auth/tokens/${id}`, { token: session });
    }
  });

  it('that names no scope may do all but answer approvals and act as an admin', async () => {
    const { token } = await makeToken(app, session);
    const answers = Object.entries(await codes(scoped, token));
    const refused = answers.filter(([, answer]) => /^(401|403) /.test(answer));
    const named = ['approvals:write', 'admin:read', 'admin:write'];
    const kept = scoped.filter(({ endpoint }) => named.includes(getEndpointScope(endpoint) ?? ''));
    expect(refused.map(([name]) => name)).to.equal(kept.map(({ name }) => name));
  });

  it('reaches nothing that is personal, whatever its scopes', async () => {
    for (const scopes of [undefined, known]) {
      const { token } = await makeToken(app, session, scopes && { scopes });
      const answers = Object.entries(await codes(guarded.filter(isPersonal), token));
      expect(answers.filter(([, answer]) => !answer.startsWith('403 personal_only '))).to.equal([]);
    }
  });

  it('says who it belongs to, and opens what a token opens', async () => {
    const { token } = await makeToken(app, session, { scopes: ['hooks:read'] });
    const me = await app.call('GET', '/api/auth/me', { token });
    expect([me.status, me.body.username]).to.equal([200, 'admin']);
    const health = await app.call('GET', '/health/detailed', { token });
    expect(health.body.parts.some(({ detail }: { detail: string }) => detail !== '')).to.be.true();
    expect((await app.call('GET', '/metrics', { token })).status).to.equal(200);
  });
});

describe('the account', () => {
  it('is personal on every route but those that are named', () => {
    const open = guarded.filter((route) => isAccount(route) && !route.endpoint.personal);
    expect(open.map(({ name }) => name).sort()).to.equal(OPEN_TO_IMPERSONATION);
  });

  it('is not needed to be in person where nobody is asked for', () => {
    expect(routes.filter((route) => route.endpoint.personal && !guarded.includes(route))).to.equal(
      [],
    );
    expect(endpoints.length).to.equal(routes.length);
  });
});
