import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { fill, guarded, NOBODYS, type Route } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Of one's account: impersonation sees who it is, follows live as that one, and ends itself. */
const ALLOWED = ['GET /api/auth/me', 'POST /api/auth/logout', 'POST /api/auth/ws-ticket'];
/** To answer for somebody is as personal as to log in, though a token may be given the right. */
const APPROVAL = /^POST \/api\/chat\/approve/;

const isPersonal = ({ name, endpoint }: Route): boolean =>
  endpoint.personal === true || endpoint.unimpersonated === true || APPROVAL.test(name);

describe('an admin who acts as a user', () => {
  let app: TestApp;
  let token: string;

  before(async () => {
    app = await startApp();
    const admin = await app.register('ada');
    const bob = await app.register('bob');
    token = await app.impersonate(admin.token, bob.id);
  });
  after(() => app.stop());

  const ask = ({ endpoint: { method, path } }: Route) =>
    app.call(
      method,
      fill(path, () => NOBODYS),
      { token },
    );

  it('is refused on every personal route', async () => {
    const routes = guarded.filter(isPersonal).filter(({ endpoint }) => endpoint.access !== 'admin');
    const wrong: string[] = [];
    for (const route of routes) {
      const { status, body } = await ask(route);
      // Errors of SCIM have the form of RFC 7644, without our code.
      const isPersonalOnly = route.endpoint.scim
        ? /not available during impersonation/.test(body.detail)
        : body.code === 'personal_only';
      if (status !== 403 || !isPersonalOnly) wrong.push(`${route.name}: ${body.detail}`);
    }
    expect(wrong).to.equal([]);
    expect(routes.length).to.be.above(15);
  });

  it('is refused on every route of admins', async () => {
    for (const route of guarded.filter(({ endpoint }) => endpoint.access === 'admin')) {
      expect((await ask(route)).status, route.name).to.equal(403);
    }
  });

  it('is let through on all others', async () => {
    const routes = guarded.filter(
      (route) =>
        !isPersonal(route) && route.endpoint.access !== 'admin' && !route.name.endsWith('/logout'),
    );
    for (const route of routes) expect((await ask(route)).status, route.name).to.not.equal(403);
  });

  it('touches nothing of an account but who it is', () => {
    const open = guarded
      .filter(({ name }) => /^\w+ \/api\/auth\//.test(name))
      .filter(({ endpoint }) => !endpoint.personal)
      .map(({ name }) => name);
    expect(open.filter((name) => !ALLOWED.includes(name))).to.equal([]);
  });
});
