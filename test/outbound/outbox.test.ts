import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createOutbox, type Outbox } from '../../src/outbound/outbox.js';
import { frozenClock, startApp, type TestApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { describe, it, before, after, afterEach } = lab;

const message = { kind: 'hook_notice', title: 'A title', body: 'A body', link: null } as const;

describe('createOutbox', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  let outbox: Outbox;
  before(async () => {
    app = await startApp();
    owner = await app.register('owner');
    const { store } = app.app;
    const { hub } = inside(app.app);
    outbox = createOutbox({ store, clock: frozenClock(), hub });
  });
  after(() => app.stop());
  afterEach(() => app.app.store.db.deleteFrom('notifications').execute());

  const kept = async () => {
    const { body } = await app.call('GET', '/api/notifications', { token: owner.token });
    return body.notifications;
  };

  it('keeps the message and tells those who follow live', async () => {
    const heard: unknown[] = [];
    const leave = inside(app.app).hub.listen(owner.id, 'notification', (data) => heard.push(data));
    await outbox.send(owner.id, message);
    leave();
    const [notification, ...more] = await kept();
    expect(more).to.equal([]);
    const createdAt = '2026-03-01T12:00:00.000Z';
    expect(notification).to.equal({ ...message, id: notification.id, readAt: null, createdAt });
    expect(heard).to.equal([notification]);
  });

  it('keeps it in the transaction of others, or not at all', async () => {
    const { statements } = outbox.toOwner(owner.id, message);
    const refused = { sql: 'DELETE FROM users WHERE id = ?', parameters: ['nobody'], expect: 1 };
    await expect(app.app.store.transact([...statements, refused])).to.reject();
    expect(await kept()).to.equal([]);
    await app.app.store.transact(statements);
    expect((await kept()).length).to.equal(1);
  });

  it('makes one line of a title, cuts what is too long and names what has none', async () => {
    await outbox.send(owner.id, { ...message, title: ' a\n\tb ', body: 'x'.repeat(30_000) });
    await outbox.send(owner.id, { ...message, title: '  ' });
    await outbox.send(owner.id, { ...message, title: 'y'.repeat(300) });
    const [long, blank, plain] = await kept();
    expect(long.title).to.equal(`${'y'.repeat(199)}…`);
    expect(blank.title).to.equal('hook_notice');
    expect(plain.title).to.equal('a b');
    expect(plain.body).to.equal(`${'x'.repeat(19_999)}…`);
  });
});
