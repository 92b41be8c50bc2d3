import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { badCredentials, CREDENTIALS, expectRefused } from './credentials.js';
import { fill, guarded, NOBODYS } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

/** Each credential is sent to each sixth route here, and to all in the long test. */
const ROUTES_PER_CREDENTIAL = 6;

describe('every route with a token', () => {
  let app: TestApp;
  let headers: Record<string, string | undefined>;

  before(async () => {
    app = await startApp();
    headers = await badCredentials(app);
  });

  after(() => app.stop());

  it('knows all kinds of bad credentials', () => {
    expect(Object.keys(headers)).to.equal(CREDENTIALS);
  });

  for (const [shift, credential] of CREDENTIALS.entries()) {
    it(`refuses ${credential}`, async () => {
      const routes = guarded.filter((_, at) => (at + shift) % ROUTES_PER_CREDENTIAL === 0);
      await expectRefused(app, routes, headers[credential]);
    });
  }

  it('refuses to be called without a token', () => expectRefused(app, guarded, undefined));

  it('refuses before it looks at the body', async () => {
    const wrong: string[] = [];
    for (const { name, endpoint } of guarded.filter((each) => each.endpoint.method !== 'GET')) {
      const path = fill(endpoint.path, () => NOBODYS);
      const { status } = await app.call(endpoint.method, path, { body: '{', type: 'text/plain' });
      if (status !== 401) wrong.push(`${name}: ${status}`);
    }
    expect(wrong).to.equal([]);
  });

  it('keeps the admin’s from all others', async () => {
    const { token } = await app.register('nobody');
    const wrong: string[] = [];
    for (const { name, endpoint } of guarded.filter((each) => each.endpoint.access === 'admin')) {
      const path = fill(endpoint.path, () => NOBODYS);
      const { status } = await app.call(endpoint.method, path, { token });
      if (status !== 403) wrong.push(`${name}: ${status}`);
    }
    expect(wrong).to.equal([]);
  });
});
