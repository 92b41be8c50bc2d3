import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FrozenClock,
  frozenClock,
  startApp,
  type TestApp,
  untilAtLeast,
} from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import { codeIn, openNtfy, refuse, TOPIC } from '../harness/ntfy.js';

export const lab = Lab.script();
const { after, afterEach, before, beforeEach, describe, it } = lab;

const HOUR_MS = 3600_000;

describe('a topic of ntfy', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let server: Awaited<ReturnType<typeof openNtfy>>;
  let admin: string;
  let ada: { id: string; token: string };
  let count = 0;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock, config: { registration: 'open' } });
    ({ token: admin } = await app.register('admin'));
  });
  beforeEach(async () => {
    server = await openNtfy();
    await set({ baseUrl: server.baseUrl });
    ada = await app.register(`ada-${++count}`);
  });
  afterEach(async () => {
    server.close();
    const { db } = app.app.store;
    for (const table of ['channels', 'code_requests', 'link_codes', 'login_failures'] as const) {
      await db.deleteFrom(table).execute();
    }
  });
  after(() => app.stop());

  const set = (body: object) =>
    app.call('PUT', '/api/admin/platforms/ntfy', { token: admin, body });
  const post = (path: string, body: object, by = ada.token) =>
    app.call('POST', path, { token: by, body });
  const ask = (topic = TOPIC, by = ada.token) => post('/api/channels/ntfy', { topic }, by);
  const published = (from: number) => untilAtLeast(async () => server.published.slice(from), 1);
  const link = async () => {
    await ask();
    const linked = await post('/api/auth/link', { code: codeIn(server.published) });
    await published(1);
    return linked;
  };

  it('is linked with the code that arrives there', async () => {
    const asked = await ask();
    const address = `${server.baseUrl}/${TOPIC}`;
    const expiresAt = new Date(clock.now() + 5 * 60_000).toISOString();
    expect([asked.status, asked.body]).to.equal([202, { kind: 'ntfy', address, expiresAt }]);
    const [told] = server.published;
    expect(String(told?.message)).to.startWith(`ada-${count} requested this. The code is `);
    const code = codeIn(server.published);
    expect(asked.text).to.not.include(code);
    const shown = await post('/api/auth/link/preview', { code });
    expect(shown.body).to.equal({ kind: 'ntfy', address, name: TOPIC, expiresAt });
    const { status, body } = await post('/api/auth/link', { code });
    expect([status, body.kind, body.address, body.name]).to.equal([201, 'ntfy', address, TOPIC]);
    const [notice] = await published(1);
    expect(notice).to.include({ topic: TOPIC, priority: 4 });
    expect(notice?.message).to.include('Your notifications are sent to it.');
    expect((await ask()).body.code).to.equal('already_linked');
  });

  it('takes a code of the account alone that asked for it', async () => {
    const bob = await app.register(`bob-${count}`);
    await ask();
    const code = codeIn(server.published);
    for (const path of ['/api/auth/link/preview', '/api/auth/link']) {
      const { status, body } = await post(path, { code }, bob.token);
      expect([status, body.code]).to.equal([404, 'wrong_code']);
    }
    expect((await post('/api/auth/link', { code })).status).to.equal(201);
    expect((await app.call('GET', '/api/channels', { token: bob.token })).body.channels).to.equal(
      [],
    );
  });

  it('tells nobody else that it is linked', async () => {
    await link();
    const bob = await app.register(`bob-${count}`);
    const asked = await ask(TOPIC, bob.token);
    expect(asked.status).to.equal(202);
    const { status, body } = await post(
      '/api/auth/link',
      { code: codeIn(server.published) },
      bob.token,
    );
    expect([status, body.code]).to.equal([409, 'already_linked']);
  });

  it('gets three codes an hour, over a restart, also of several users', async () => {
    const bob = await app.register(`bob-${count}`);
    const asked = await Promise.all([ask(), ask(), ask(TOPIC, bob.token), ask()]);
    expect(asked.map(({ status }) => status).sort()).to.equal([202, 202, 202, 429]);
    expect(server.published.length).to.equal(3);
    await app.restart();
    const late = await ask();
    expect([late.status, late.body.code]).to.equal([429, 'too_many_codes']);
    expect((await ask('another')).status).to.equal(202);
    clock.forward(HOUR_MS);
    expect((await ask()).status).to.equal(202);
  });

  it('is one of ten a day for a user', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) statuses.push((await ask(`topic-${n}`)).status);
    expect(statuses).to.equal([...Array(10).fill(202), 429]);
    const { db } = app.app.store;
    const dayAgo = new Date(clock.now() - 24 * HOUR_MS).toISOString();
    await db.updateTable('code_requests').set({ asked_at: dayAgo }).execute();
    expect((await ask('topic-0')).status).to.equal(202);
    const rows = await db.selectFrom('code_requests').selectAll().execute();
    expect(rows.length).to.equal(1);
  });

  it('is refused where it is none, or the server does not take it', async () => {
    for (const topic of ['a b', 'https://ntfy.example.org/x', '../v1/account', 'x'.repeat(65)]) {
      const { status, body } = await ask(topic);
      expect([status, body.details?.[0]?.path]).to.equal([400, 'topic']);
    }
    server.refuse(refuse(403, 40301, 'forbidden'));
    const { status, body } = await ask();
    expect([status, body.code, body.message]).to.equal([
      409,
      'code_not_sent',
      'The code could not be sent: ntfy returned 403: forbidden',
    ]);
    await app.call('DELETE', '/api/admin/platforms/ntfy', { token: admin });
    expect((await ask()).body.code).to.equal('not_set_up');
  });

  it('stands in the audit log by its server alone', async () => {
    await link();
    const audited = await app.call('GET', '/api/admin/audit?limit=5', { token: admin });
    const entries = audited.body.entries.filter(({ action }: { action: string }) =>
      ['channels.ntfy', 'channels.link'].includes(action),
    );
    expect(entries.length).to.equal(2);
    expect(JSON.stringify(entries)).to.include(server.baseUrl);
    expect(JSON.stringify(entries)).to.not.include(TOPIC);
  });

  it('is told of a call that waits, with the commands that decide it', async () => {
    await link();
    const { length } = server.published;
    const id = await askApproval(app, ada.id);
    const [told] = await published(length);
    const { digest } = (await app.call('GET', `/api/chat/approvals/${id}`, { token: ada.token }))
      .body;
    const short = digest.slice(0, 8);
    expect(told?.priority).to.equal(4);
    expect(String(told?.message)).to.endWith(
      `Decide: adjutant approvals approve ${short}    adjutant approvals deny ${short}`,
    );
    expect(told?.message).to.not.include('Or reply');
  });

  it('is not sent to the topic of that name on another server', async () => {
    const { body } = await link();
    const other = await openNtfy();
    await set({ baseUrl: other.baseUrl });
    const test = await app.call('POST', `/api/channels/${body.id}/test`, { token: ada.token });
    other.close();
    expect([test.body.status, other.published]).to.equal(['failed', []]);
    expect(test.body.error).to.include(`${server.baseUrl}, which is not the configured server`);
  });
});
