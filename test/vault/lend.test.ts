import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { PASSWORD, startApp, type TestApp } from '../harness/app.js';
import { openTarget, type Target } from '../harness/target.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const VALUE = 'value-that-only-ada-may-see';

describe('whom a credential is lent to', () => {
  let app: TestApp;
  let target: Target;
  let admin: string;
  let ada: { id: string; token: string };
  let acting: string;
  let program: string;
  let id: string;

  before(async () => {
    target = await openTarget();
    app = await startApp({ config: { egressAllow: [target.address], registration: 'open' } });
    admin = (await app.register('admin')).token;
    ada = await app.register('ada');
    acting = await app.impersonate(admin, ada.id);
    const made = await ask(ada.token, 'POST', '/api/auth/tokens', { name: 'a program' });
    program = made.body.token;
  });
  after(async () => {
    await app.stop();
    target.close();
  });
  beforeEach(async () => {
    target.received.length = 0;
    if (id) await ask(ada.token, 'DELETE', `/api/vault/${id}`);
    const given = {
      name: 'pat',
      value: VALUE,
      allowedTools: ['http'],
      allowedHosts: ['a.example'],
    };
    id = (await ask(ada.token, 'POST', '/api/vault', given)).body.id;
  });

  const ask = (token: string, method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  const call = (token: string) =>
    ask(token, 'POST', '/api/skills/http/tools/request/execute', {
      arguments: { method: 'GET', url: target.url, headers: { a: '$credential(pat)' } },
    });

  for (const [who, token] of [
    ['an admin who acts as its owner', () => acting],
    ['a program with a token', () => program],
  ] as const) {
    it(`is not widened by ${who}, who would read it there`, async () => {
      for (const wider of [
        { allowedHosts: ['a.example', target.address] },
        { allowedTools: ['http', 'shell'] },
      ]) {
        const refused = await ask(token(), 'PATCH', `/api/vault/${id}`, wider);
        expect([refused.status, refused.body.code]).to.equal([403, 'personal_only']);
      }
      const { status, body } = await call(token());
      expect([status, body.message]).to.equal([
        409,
        `The credential pat may not be sent to ${target.address}. Add the host to its allowedHosts`,
      ]);
      expect(target.received).to.equal([]);
    });

    it(`is described and narrowed by ${who}`, async () => {
      const changes = { description: 'mine', allowedTools: ['http'], allowedHosts: [] };
      const { status, body } = await ask(token(), 'PATCH', `/api/vault/${id}`, changes);
      expect({ status, ...body }).to.include({ status: 200, ...changes });
    });
  }

  it('is said by its owner, logged in', async () => {
    const wider = { allowedHosts: [target.address] };
    expect((await ask(ada.token, 'PATCH', `/api/vault/${id}`, wider)).status).to.equal(200);
    expect((await call(ada.token)).status).to.equal(200);
    expect(target.received.map(({ headers }) => headers.a)).to.equal([VALUE]);
  });

  it('counts wrong passwords of a reveal as wrong logins', async () => {
    const reveal = (password: string) =>
      ask(ada.token, 'POST', `/api/vault/${id}/reveal`, { password });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await reveal('not the password')).status);
    expect(statuses.slice(0, 3)).to.equal([401, 401, 401]);
    expect(statuses.at(-1)).to.equal(429);
    expect((await reveal(PASSWORD)).status).to.equal(429);
    const login = { username: 'ada', password: PASSWORD };
    expect((await app.call('POST', '/api/auth/login', { body: login })).status).to.equal(429);
  });
});
