import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { openForSuite } from '../../harness/suite.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('notifications', () => {
  const app = openForSuite(lab, startApp);
  let token: string;
  let count = 0;
  beforeEach(async () => {
    const owner = await app.register(`owner-${++count}`);
    token = owner.token;
    for (const n of [1, 2, 3]) {
      const kind = n === 3 ? ('hook_exhausted' as const) : ('hook_notice' as const);
      const message = { kind, title: `Title ${n}`, body: `Body ${n}`, link: null };
      await inside(app.app).outbox.send(owner.id, message);
    }
  });

  const list = async (query = '') =>
    (await app.call('GET', `/api/notifications${query}`, { token })).body;
  const titles = (page: { notifications: { title: string }[] }) =>
    page.notifications.map(({ title }) => title);

  it('lists the newest first, page by page, with the count of the unread', async () => {
    const first = await list('?limit=2');
    expect(titles(first)).to.equal(['Title 3', 'Title 2']);
    expect(first.unreadCount).to.equal(3);
    const second = await list(`?limit=2&cursor=${first.nextCursor}`);
    expect(titles(second)).to.equal(['Title 1']);
    expect(second).to.include({ nextCursor: null, unreadCount: 3 });
  });

  it('marks one as read, the first time counting', async () => {
    const { id } = (await list()).notifications[1];
    const first = await app.call('POST', `/api/notifications/${id}/read`, { token });
    expect(first.status).to.equal(200);
    expect(first.body).to.include({ id, title: 'Title 2' });
    expect(first.body.readAt).to.match(/^\d{4}-.*Z$/);
    const second = await app.call('POST', `/api/notifications/${id}/read`, { token });
    expect(second.body).to.equal(first.body);
    expect((await list()).unreadCount).to.equal(2);
    expect(titles(await list('?unread=true'))).to.equal(['Title 3', 'Title 1']);
    expect(titles(await list('?unread=false'))).to.equal(['Title 2']);
  });

  it('marks all as read and says how many those were', async () => {
    const first = await app.call('POST', '/api/notifications/read-all', { token });
    expect([first.status, first.body]).to.equal([200, { read: 3 }]);
    const second = await app.call('POST', '/api/notifications/read-all', { token });
    expect(second.body).to.equal({ read: 0 });
    expect((await list()).unreadCount).to.equal(0);
  });

  it('marks all as read, however many there are, and only the own', async () => {
    const other = await app.register('other');
    const message = { kind: 'hook_notice' as const, title: 'x', body: '', link: null };
    await inside(app.app).outbox.send(other.id, message);
    const sql = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
      INSERT INTO notifications (id, user_id, kind, title, body, created_at)
      SELECT 'notification_' || i, id, 'hook_notice', 'x', '', created_at
      FROM n JOIN users WHERE username = ?`;
    await app.app.store.transact([{ sql, parameters: [`owner-${count}`] }]);
    const { body } = await app.call('POST', '/api/notifications/read-all', { token });
    expect(body).to.equal({ read: 2503 });
    expect((await list()).unreadCount).to.equal(0);
    const unread = await app.call('GET', '/api/notifications', { token: other.token });
    expect(unread.body.unreadCount).to.equal(1);
  });

  it('filters by kind', async () => {
    expect(titles(await list('?kind=hook_exhausted'))).to.equal(['Title 3']);
  });

  it('counts the unread of the moment that it lists, while others write and read', async () => {
    const owner = await app.register('busy');
    const call = (method: string, path: string) =>
      app.call(method, `/api/notifications${path}`, { token: owner.token });
    let isWriting = true;
    const write = async () => {
      for (let n = 0; n < 150; n++) {
        const message = { kind: 'hook_notice' as const, title: `${n}`, body: '', link: null };
        await inside(app.app).outbox.send(owner.id, message);
      }
      isWriting = false;
    };
    const look = async () => {
      while (isWriting) {
        const { body } = await call('GET', '?limit=200');
        const unread = body.notifications.filter((one: { readAt: unknown }) => one.readAt === null);
        expect(body.unreadCount).to.equal(unread.length);
        if (unread.length % 3 === 2) await call('POST', `/${unread[0].id}/read`);
      }
    };
    await Promise.all([write(), ...Array.from({ length: 8 }, look)]);
    expect((await call('GET', '?cursor=notification_0')).body).to.include({ notifications: [] });
    expect((await call('GET', '?cursor=notification_0')).body.unreadCount > 0).to.be.true();
  });

  it("hides another's behind the answer for none", async () => {
    const { id } = (await list()).notifications[0];
    const stranger = await app.register('stranger');
    const theirs = await app.call('GET', '/api/notifications', { token: stranger.token });
    expect(theirs.body).to.equal({ notifications: [], nextCursor: null, unreadCount: 0 });
    for (const named of [id, 'notification_nowhere']) {
      const path = `/api/notifications/${named}/read`;
      const { status, body } = await app.call('POST', path, { token: stranger.token });
      expect([status, body.message]).to.equal([404, 'Notification not found']);
    }
    await app.call('POST', '/api/notifications/read-all', { token: stranger.token });
    expect((await list()).unreadCount).to.equal(3);
  });

  it('refuses bad filters and those without a token', async () => {
    for (const query of ['?unread=maybe', '?limit=0', '?limit=201', '?nope=1']) {
      const { status } = await app.call('GET', `/api/notifications${query}`, { token });
      expect(status).to.equal(400);
    }
    expect((await app.call('GET', '/api/notifications')).status).to.equal(401);
    expect((await app.call('POST', '/api/notifications/read-all')).status).to.equal(401);
  });
});
