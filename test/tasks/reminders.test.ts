import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

const MINUTE_MS = 60_000;

describe('reminders of tasks', () => {
  const clock = frozenClock();
  const app = openForSuite(lab, () => startApp({ clock }));
  let token: string;
  let users = 0;
  beforeEach(async () => {
    ({ token } = await app.register(`person${++users}`));
  });

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token, ...(body !== undefined && { body }) });
  /** A task that is due in so many minutes. */
  const due = async (title: string, minutes: number, more: object = {}): Promise<string> => {
    const dueAt = new Date(clock.now() + minutes * MINUTE_MS).toISOString();
    return (await ask('POST', '/api/tasks', { title, dueAt, ...more })).body.id;
  };
  const pass = async (minutes: number) => {
    clock.forward(minutes * MINUTE_MS);
    await app.app.modules.tasks.reminders.tick();
  };
  const told = async (): Promise<string[]> => {
    const { notifications } = (await ask('GET', '/api/notifications')).body;
    return notifications.map(({ title }: { title: string }) => title).reverse();
  };

  it('come once, so long before as the task or the preferences say', async () => {
    await due('By default', 60);
    await due('An hour before', 90, { reminderMinutes: 60 });
    await due('Never', 40, { reminderMinutes: null });
    await pass(29);
    expect(await told()).to.equal([]);
    await pass(1);
    expect(await told()).to.equal(['An hour before']);
    await pass(15);
    await pass(60);
    expect(await told()).to.equal(['An hour before', 'By default']);
    await ask('PUT', '/api/notifications/preferences', { tasks: { reminderMinutes: 5 } });
    await due('Five minutes before', 10);
    await pass(4);
    expect(await told()).to.have.length(2);
    await pass(1);
    expect(await told()).to.include('Five minutes before');
  });

  it('say when it is due, in the zone of the task', async () => {
    const id = await due('Call', 15, { timezone: 'Asia/Tokyo' });
    await pass(15);
    const [notice] = (await ask('GET', '/api/notifications')).body.notifications;
    expect(notice).to.include({ kind: 'task_reminder', title: 'Call', link: `/tasks/${id}` });
    const { dueAt } = (await ask('GET', `/api/tasks/${id}`)).body;
    const there = new Date(Date.parse(dueAt) + 9 * 60 * MINUTE_MS).toISOString();
    expect(notice.body).to.contain(`Due ${there.slice(0, 16).replace('T', ' ')} (Asia/Tokyo)`);
  });

  it('come at the due time where the time before it has passed', async () => {
    await due('In ten minutes', 10);
    await pass(9);
    expect(await told()).to.equal([]);
    await pass(1);
    expect(await told()).to.equal(['In ten minutes']);
  });

  it('do not come for what is done or archived, and again where it is reopened', async () => {
    const done = await due('Done', 60);
    const archived = await due('Archived', 60);
    await ask('POST', `/api/tasks/${done}/complete`);
    await ask('PATCH', `/api/tasks/${archived}`, { status: 'archived' });
    await pass(10);
    await ask('POST', `/api/tasks/${archived}/reopen`);
    await pass(100);
    expect(await told()).to.equal(['Archived']);
  });

  it('move with the due time, and come again for a new one alone', async () => {
    const id = await due('Moved', 30);
    await ask('PATCH', `/api/tasks/${id}`, {
      dueAt: new Date(clock.now() + 7_200_000).toISOString(),
    });
    await pass(60);
    expect(await told()).to.equal([]);
    await pass(45);
    expect(await told()).to.equal(['Moved']);
    await ask('PATCH', `/api/tasks/${id}`, { title: 'Renamed', priority: 3 });
    await pass(30);
    expect(await told()).to.equal(['Moved']);
    await ask('PATCH', `/api/tasks/${id}`, {
      dueAt: new Date(clock.now() + 3_600_000).toISOString(),
    });
    await pass(45);
    expect(await told()).to.equal(['Moved', 'Renamed']);
  });

  it('that are over an hour late come as one, and those less late singly', async () => {
    for (let n = 1; n <= 25; n++) await due(`Missed ${n}`, 15 + n);
    await due('Just now', 300);
    await pass(290);
    const { notifications } = (await ask('GET', '/api/notifications')).body;
    const titles = notifications.map(({ title }: { title: string }) => title).sort();
    expect(titles).to.equal(['25 overdue task reminders', 'Just now']);
    const late = notifications.find(({ title }: { title: string }) => title.startsWith('25'));
    expect(late.body).to.match(/^Missed 1: /);
    expect(late.body).to.match(/… 5 more$/);
    await pass(10);
    expect(await told()).to.have.length(2);
  });

  it('come once if two timers look at once', async () => {
    for (let n = 0; n < 5; n++) await due(`Twice ${n}`, 20);
    clock.forward(5 * MINUTE_MS);
    const { reminders } = app.app.modules.tasks;
    await Promise.all([reminders.tick(), reminders.tick(), reminders.tick()]);
    expect((await told()).sort()).to.equal([0, 1, 2, 3, 4].map((n) => `Twice ${n}`));
  });

  it('tell when the next one is due', async () => {
    const { reminders } = app.app.modules.tasks;
    expect(await reminders.nextAt()).to.be.null();
    await due('Next', 20);
    expect(await reminders.nextAt()).to.equal(new Date(clock.now() + 300_000).toISOString());
  });
});
