import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  startApp,
  type TestApp,
} from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { makeToken } from '../../harness/token.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

describe('signing keys', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let admin: string;

  beforeEach(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    admin = (await app.register('ada')).token;
  });
  afterEach(() => app.stop());

  const rotate = (token: string | undefined) =>
    app.call('POST', '/api/admin/keys/rotate', { token });
  const me = async (token: string) => (await app.call('GET', '/api/auth/me', { token })).status;
  const logIn = async (device?: string) => {
    const body = { username: 'ada', password: PASSWORD, device };
    return (await app.call('POST', '/api/auth/login', { body })).body.token;
  };
  const kidOf = (token: string) => {
    const [header = ''] = token.replace(/^adj_/, '').split('.');
    return JSON.parse(Buffer.from(header, 'base64url').toString()).kid;
  };
  const kept = async () => {
    const rows = await app.app.store.db.selectFrom('signing_keys').select('id').execute();
    return rows.map(({ id }) => id).sort();
  };
  const audited = async (): Promise<Record<string, unknown>[]> => {
    const path = '/api/admin/audit?action=keys.rotate';
    return (await app.call('GET', path, { token: admin })).body.entries;
  };
  const prune = () => inside(app.app).retention.prune();

  it('rotate: the new one signs at once, and the old one verifies', async () => {
    const { status, body } = await rotate(admin);
    expect({ status, ...body }).to.equal({
      status: 200,
      keyId: body.keyId,
      createdAt: '2026-03-01T12:00:00.000Z',
      retired: 1,
    });
    const fresh = await logIn();
    expect(kidOf(fresh)).to.equal(body.keyId);
    expect(kidOf(admin)).to.not.equal(body.keyId);
    expect([await me(admin), await me(fresh)]).to.equal([200, 200]);
  });

  it('are the same after a restart', async () => {
    const { keyId } = (await rotate(admin)).body;
    await app.restart();
    const fresh = await logIn();
    expect(kidOf(fresh)).to.equal(keyId);
    expect([await me(admin), await me(fresh)]).to.equal([200, 200]);
  });

  it('leave one that signs where several rotate at once', async () => {
    const replies = await Promise.all([1, 2, 3].map(() => rotate(admin)));
    expect(replies.map(({ status }) => status)).to.equal([200, 200, 200]);
    const rows = await app.app.store.db
      .selectFrom('signing_keys')
      .select('id')
      .where('retired_at', 'is', null)
      .execute();
    const before = kidOf(await logIn());
    await app.restart();
    expect([rows.map(({ id }) => id), kidOf(await logIn())]).to.equal([[before], before]);
  });

  it('are deleted once the last token that they signed has ended', async () => {
    const old = kidOf(admin);
    await logIn('phone');
    await rotate(admin);
    clock.forward(30 * DAY_MS - 1);
    await prune();
    expect(await kept()).to.include(old);
    clock.forward(1);
    await prune();
    expect(await kept()).to.not.include(old);
    expect((await kept()).length).to.equal(1);
  });

  it('are kept for a personal token as long as it is good, and no longer than it is there', async () => {
    const old = kidOf(admin);
    const long = await makeToken(app, admin, { expiresInDays: 366 });
    await rotate(admin);
    clock.forward(365 * DAY_MS);
    await prune();
    expect([await kept(), await me(long.token)]).to.equal([
      [old, ...(await kept()).filter((id) => id !== old)],
      200,
    ]);
    await app.call('DELETE', `/api/auth/tokens/${long.id}`, { token: await logIn() });
    await prune();
    expect(await kept()).to.not.include(old);
  });

  it('are not kept by tokens that the next one signed', async () => {
    const old = kidOf(admin);
    await rotate(admin);
    clock.forward(2 * HOUR_MS);
    const later = await makeToken(app, await logIn(), { expiresInDays: 366 });
    clock.forward(11 * HOUR_MS);
    await prune();
    expect([await kept(), await me(later.token)]).to.equal([[kidOf(later.token)], 200]);
    expect(await kept()).to.not.include(old);
  });

  it('are nobody’s to rotate but an admin’s, in person', async () => {
    const user = (await app.register('user')).token;
    const made = await makeToken(app, admin, { scopes: ['admin:write'] });
    expect((await rotate(undefined)).status).to.equal(401);
    expect((await rotate(user)).status).to.equal(403);
    expect((await rotate(made.token)).body.code).to.equal('personal_only');
    expect((await kept()).length).to.equal(1);
    expect((await audited()).map(({ outcome }) => outcome)).to.equal(['denied', 'denied']);
  });

  it('do not rotate where that cannot be kept in the audit log', async () => {
    const [old] = await kept();
    const stop = `CREATE TRIGGER stop BEFORE INSERT ON audit
      BEGIN SELECT RAISE(ABORT, 'the log is full'); END`;
    await app.app.store.transact([{ sql: stop, parameters: [] }]);
    expect((await rotate(admin)).status).to.equal(503);
    const { body } = await app.call('POST', '/api/auth/refresh', { token: admin });
    expect([await kept(), kidOf(body.token)]).to.equal([[old], old]);
  });

  it('leave their rotation in the audit log', async () => {
    const { keyId } = (await rotate(admin)).body;
    const said = (await audited()).map(({ target, outcome }) => [target, outcome]);
    expect(said).to.equal([[keyId, 'ok']]);
  });
});
