import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';
import { inside } from '../harness/inside.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { after, before, beforeEach, describe, it } = lab;

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;

describe('credential reminders', () => {
  let clock: FrozenClock;
  let desk: Desk;
  let token: string;
  before(async () => {
    clock = frozenClock();
    desk = await openDesk({ clock, config: { tokenHours: 720 } });
  });
  beforeEach(async () => {
    await desk.arrive();
    // Months pass below, and a login ends after 30 days.
    ({ token } = await makeToken(desk.test, desk.owner.token, { expiresInDays: 366 }));
  });
  after(() => desk.test.stop());

  const ask = (method: string, path: string, body?: object) =>
    desk.test.call(method, path, { token, ...(body && { body }) });
  const store = async (name: string, more: object = {}): Promise<string> =>
    (await ask('POST', '/api/vault', { name, value: 'a value', ...more })).body.id;
  const change = (id: string, body: object) => ask('PATCH', `/api/vault/${id}`, body);
  const later = (ms: number): string => new Date(clock.now() + ms).toISOString();
  const tick = () => inside(desk.test.app).reminders.tick();
  const tickAfter = (ms: number) => {
    clock.forward(ms);
    return tick();
  };
  const told = async (): Promise<[string, string][]> => {
    const { body } = await ask('GET', '/api/notifications?limit=200');
    return body.notifications
      .filter(({ kind }: { kind: string }) => kind.startsWith('credential_'))
      .map(({ kind, title }: { kind: string; title: string }) => [kind, title])
      .reverse();
  };

  it('come seven days before, a day before and at the end, each once over restarts', async () => {
    await store('pat', { expiresAt: later(10 * DAY) });
    await tick();
    expect(await told()).to.equal([]);
    await tickAfter(3 * DAY);
    await tick();
    expect(await told()).to.equal([['credential_expiring', 'pat expires in 7 days']]);
    clock.forward(6 * DAY - 1);
    await desk.test.restart();
    await tick();
    expect((await told()).length).to.equal(1);
    await tickAfter(1);
    clock.forward(DAY);
    await desk.test.restart();
    await tick();
    await tickAfter(100 * DAY);
    expect(await told()).to.equal([
      ['credential_expiring', 'pat expires in 7 days'],
      ['credential_expiring', 'pat expires in 24 hours'],
      ['credential_expired', 'pat has expired'],
    ]);
  });

  it('leave out what a standstill passed, and what was past when it was set', async () => {
    await store('short', { expiresAt: later(3 * DAY) });
    await store('long', { expiresAt: later(10 * DAY) });
    await tick();
    expect(await told()).to.equal([]);
    await tickAfter(9 * DAY + HOUR);
    expect((await told()).sort()).to.equal([
      ['credential_expired', 'short has expired'],
      ['credential_expiring', 'long expires in 23 hours'],
    ]);
  });

  it('begin anew with another end, or a rotation that renews it', async () => {
    const id = await store('pat', { expiresAt: later(8 * DAY) });
    await tickAfter(DAY);
    await change(id, { expiresAt: later(9 * DAY) });
    await tickAfter(2 * DAY);
    await ask('POST', `/api/vault/${id}/rotate`, { generate: true });
    await tick();
    expect((await told()).length).to.equal(2);
    await change(id, { expiresAt: null });
    await tickAfter(50 * DAY);
    expect((await told()).length).to.equal(2);
  });

  it('come once when a value is due for another, and again after that one', async () => {
    const id = await store('pat', { rotateEveryDays: 30 });
    const shown = async () => (await ask('GET', `/api/vault/${id}`)).body;
    expect(await shown()).to.include({ rotateEveryDays: 30, rotateDueAt: later(30 * DAY) });
    await tickAfter(30 * DAY - 1);
    expect(await told()).to.equal([]);
    await tickAfter(1);
    await desk.test.restart();
    await tick();
    expect(await told()).to.equal([['credential_rotation_due', 'pat is due for rotation']]);
    await ask('POST', `/api/vault/${id}/rotate`, { generate: true });
    expect(await shown()).to.include({ rotateDueAt: later(30 * DAY) });
    await tickAfter(30 * DAY);
    expect((await told()).length).to.equal(2);
    await change(id, { rotateEveryDays: null });
    expect(await shown()).to.include({ rotateEveryDays: null, rotateDueAt: null });
  });

  it('name who uses it, and reach its owner alone', async () => {
    const id = await store('pat', { expiresAt: later(8 * DAY) });
    const { triggerConfig } = onPath('in');
    await desk.hook({
      triggerConfig: { webhookPath: triggerConfig.webhookPath, webhookCredentialId: id },
    });
    const stranger = await desk.test.register('stranger');
    await tickAfter(DAY);
    const { body } = await ask('GET', '/api/notifications');
    expect(body.notifications[0]).to.include({ link: `/api/vault/${id}` });
    expect(body.notifications[0].body).to.match(/^Used by issues\.\n/);
    const theirs = await desk.test.call('GET', '/api/notifications', { token: stranger.token });
    expect(theirs.body.notifications).to.equal([]);
  });

  it('come by themselves', async () => {
    await store('pat', { expiresAt: later(8 * DAY) });
    clock.forward(DAY);
    await desk.test.restart();
    await until(told, ({ length }) => length === 1);
  });

  for (const rotateEveryDays of [0, -1, 1.5, '30', 3651]) {
    it(`are not asked for every ${JSON.stringify(rotateEveryDays)} days`, async () => {
      const id = await store('pat');
      const { status, body } = await change(id, { rotateEveryDays });
      expect([status, body.details[0].path]).to.equal([400, 'rotateEveryDays']);
    });
  }
});
