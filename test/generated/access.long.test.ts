import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';
import { badCredentials, CREDENTIALS, expectRefused } from './credentials.js';
import { guarded } from './routes.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

describe('every route with a token', () => {
  let app: TestApp;
  let headers: Record<string, string | undefined>;

  before(async () => {
    app = await startApp();
    headers = await badCredentials(app);
  });

  after(() => app.stop());

  for (const credential of CREDENTIALS) {
    it(`refuses ${credential}`, () => expectRefused(app, guarded, headers[credential]));
  }
});
