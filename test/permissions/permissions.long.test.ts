import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, type Reply, startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const PATH = '/api/skills/permissions';

describe('permissions', () => {
  let app: TestApp;
  let token: string;
  let stranger: string;
  const clock = frozenClock();
  before(async () => {
    app = await startApp({ clock });
    token = (await app.register('owner')).token;
    stranger = (await app.register('stranger')).token;
  });
  after(() => app.stop());
  afterEach(async () => {
    for (const { skillId, action } of await list()) await reset(skillId, action);
  });

  const ask = (method: string, path = PATH, body?: object, as = token): Promise<Reply> =>
    app.call(method, path, { token: as, ...(body && { body }) });
  const set = (body: object) => ask('PUT', PATH, body);
  const reset = (skillId: string, action: string) => ask('DELETE', `${PATH}/${skillId}/${action}`);
  const list = async (query = '', as = token) =>
    (await ask('GET', `${PATH}${query}`, undefined, as)).body.permissions;

  it('are set, shown and reset', async () => {
    const body = { skillId: 'http', action: 'request', level: 'allow', reason: 'My own service' };
    const { status, body: made } = await set(body);
    const at = '2026-03-01T12:00:00.000Z';
    const kept = { ...body, expiresAt: null, createdAt: at, updatedAt: at };
    expect([status, made]).to.equal([200, kept]);
    clock.forward(1000);
    const later = (await set({ ...made, level: 'deny' })).body;
    expect(later).to.equal({ ...kept, level: 'deny', updatedAt: '2026-03-01T12:00:01.000Z' });
    expect(await list()).to.equal([later]);
    expect((await reset('http', 'request')).status).to.equal(204);
    expect((await reset('http', 'request')).status).to.equal(404);
    expect(await list()).to.equal([]);
  });

  it('end at their time', async () => {
    const expiresAt = new Date(clock.now() + 60_000).toISOString();
    await set({ skillId: 'shell', action: '*', level: 'deny', expiresAt });
    expect((await list()).map(({ level }: { level: string }) => level)).to.equal(['deny']);
    clock.forward(60_000);
    expect(await list()).to.equal([]);
    await set({ skillId: 'shell', action: '*', level: 'ask' });
    expect((await list()).length).to.equal(1);
  });

  it('name the field that is wrong', async () => {
    const good = { skillId: 'http', action: 'request', level: 'allow' };
    for (const [body, path] of [
      [{ ...good, skillId: 'htpt' }, 'skillId'],
      [{ ...good, action: 'reqest' }, 'action'],
      [{ ...good, level: 'maybe' }, 'level'],
      [{ ...good, level: undefined }, 'level'],
      [{ ...good, expiresAt: 'tomorrow' }, 'expiresAt'],
      [{ ...good, expiresAt: '2020-01-01T00:00:00.000Z' }, 'expiresAt'],
      [{ ...good, userId: 'user_x' }, 'userId'],
    ] as const) {
      const { status, body: said } = await set(body);
      expect([status, said.details?.[0]?.path]).to.equal([400, path]);
    }
  });

  it('are each user’s own', async () => {
    await set({ skillId: 'http', action: 'request', level: 'deny' });
    expect(await list('', stranger)).to.equal([]);
    const path = `${PATH}/http/request`;
    expect((await ask('DELETE', path, undefined, stranger)).status).to.equal(404);
    expect((await list()).length).to.equal(1);
  });

  it('are listed in pages, newest first, by skill and by level', async () => {
    await set({ skillId: 'http', action: 'request', level: 'allow' });
    await set({ skillId: 'shell', action: 'run', level: 'deny' });
    await set({ skillId: 'time', action: 'now', level: 'ask' });
    const skills = (rows: { skillId: string }[]) => rows.map(({ skillId }) => skillId);
    expect(skills(await list())).to.equal(['time', 'shell', 'http']);
    expect(skills(await list('?skillId=shell'))).to.equal(['shell']);
    expect(skills(await list('?level=allow'))).to.equal(['http']);
    const { body } = await ask('GET', `${PATH}?limit=2`);
    expect(skills(await list(`?limit=2&cursor=${body.nextCursor}`))).to.equal(['http']);
  });

  it('leave a row in the audit log', async () => {
    await set({ skillId: 'http', action: '*', level: 'allow' });
    await reset('http', '*');
    const { body } = await ask('GET', '/api/admin/audit?limit=2');
    const rows = body.entries ?? body.audit;
    expect(
      rows.map((row: { action: string; target: string }) => [row.action, row.target]),
    ).to.equal([
      ['permissions.reset', 'http.*'],
      ['permissions.set', 'http.*'],
    ]);
  });
});
