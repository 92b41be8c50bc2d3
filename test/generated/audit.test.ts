import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { openForSuite } from '../harness/suite.js';
import { RECIPES } from './auditcalls.js';
import { audited, openAuditing, REFUSALS } from './audited.js';
import { routes } from './routes.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** Calls of different areas; `audit.long.test.ts` makes all of them. */
const SAMPLE = [
  'POST /api/auth/login',
  'POST /api/auth/password',
  'POST /api/auth/tokens',
  'PATCH /api/admin/users/{id}',
  'POST /api/admin/users/{id}/impersonate',
  'POST /api/hooks/{id}/rotate-secret',
  'POST /api/webhooks',
  'POST /api/vault',
  'POST /api/vault/{id}/reveal',
  'DELETE /api/vault/{id}',
  'POST /api/models',
  'PUT /api/skills/permissions',
  'POST /api/chat/approve',
  'PUT /api/tunnel',
];
const sample = audited.filter(({ name }) => SAMPLE.includes(name));

describe('audited endpoints', () => {
  const auditing = openForSuite(lab, openAuditing);

  it('exist under the names of the sample', () => {
    expect(sample.length).to.equal(SAMPLE.length);
  });

  for (const route of sample) {
    const { endpoint, name } = route;
    it(`leave one entry: ${name}`, async () => {
      const { status, rows, text } = await auditing.left(route, await auditing.trialOf(route));
      expect([status >= 200 && status < 300, rows], text).to.equal([
        true,
        [`${endpoint.audit} ok`],
      ]);
    });

    it(`change nothing if the entry cannot be written: ${name}`, async () => {
      for (const raised of endpoint.auditMayFail ? [] : Object.values(REFUSALS)) {
        const trial = await auditing.trialOf(route);
        const ask = () => auditing.ask(route, trial);
        const [{ status, body }, changed] = await auditing.changedWithoutLog(raised, ask);
        expect([status, body?.code, changed]).to.equal([503, 'storage_unavailable', []]);
      }
    });
  }

  it('of admins leave one entry a minute if they are refused', async () => {
    const wrong: string[] = [];
    for (const route of audited.filter(({ endpoint }) => endpoint.access === 'admin')) {
      const { token } = await auditing.kitchen.guest();
      const first = await auditing.left(route, { token });
      const again = await auditing.left(route, { token });
      const found = JSON.stringify([first.status, first.rows, again.status, again.rows]);
      const wanted = JSON.stringify([403, [`${route.endpoint.audit} denied`], 403, []]);
      if (found !== wanted) wrong.push(`${route.name}: ${found}`);
    }
    expect(wrong).to.equal([]);
  });

  it('are all endpoints of the administration', () => {
    const silent = routes.filter(
      ({ endpoint }) => /^\/api\/admin\//.test(endpoint.path) && !endpoint.audit,
    );
    expect(silent.map(({ name }) => name)).to.equal([]);
  });

  it('have a recipe if they take more than a token', () => {
    const missing = audited.filter(
      ({ name, endpoint }) => (endpoint.path.includes('{') || endpoint.body) && !RECIPES[name],
    );
    expect(missing.map(({ name }) => name)).to.equal([]);
  });
});
