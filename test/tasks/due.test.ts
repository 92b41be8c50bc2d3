import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { makeToken } from '../harness/token.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HOUR_MS = 3600 * 1000;

describe('the day of a person', () => {
  const clock = frozenClock();
  const app = openForSuite(lab, () => startApp({ clock }));

  const goTo = (time: string) => clock.forward(Date.parse(time) - clock.now());
  const person = async (name: string, timezone: string) => {
    // A login ends before the day does.
    const { token } = await makeToken(app, (await app.register(name)).token);
    const ask = (method: string, path: string, body?: unknown) =>
      app.call(method, path, { token, ...(body !== undefined && { body }) });
    const live = (zone: string) =>
      ask('PUT', '/api/notifications/preferences', {
        quietHours: { enabled: false, timezone: zone },
      });
    await live(timezone);
    return {
      ask,
      live,
      note: (title: string, more: object) => ask('POST', '/api/tasks', { title, ...more }),
      due: async (filter: string): Promise<string[]> => {
        const { body } = await ask('GET', `/api/tasks?due=${filter}`);
        return body.tasks.map(({ title }: { title: string }) => title);
      },
    };
  };

  it('is that of New York, and has 23 hours when clocks are put forward', async () => {
    // 8 March 2026: 02:00 is 03:00 there. The day begins at 05:00 UTC and ends at 04:00 UTC.
    goTo('2026-03-08T05:00:00.000Z');
    const { note, due } = await person('york', 'America/New_York');
    await note('Day before', { due: '2026-03-07' });
    await note('First minute', { dueAt: '2026-03-08T00:00' });
    await note('On the day', { due: '2026-03-08' });
    await note('Last minute', { dueAt: '2026-03-08T23:59' });
    await note('Next day', { dueAt: '2026-03-09T00:00' });
    await note('In six days', { due: '2026-03-14' });
    await note('In seven days', { due: '2026-03-15' });
    expect(await due('overdue')).to.equal(['Day before']);
    expect(await due('today')).to.equal(['First minute', 'Last minute', 'On the day']);
    expect(await due('week')).to.equal([
      ...['First minute', 'Last minute', 'On the day', 'Next day', 'In six days'],
    ]);
    goTo('2026-03-09T03:59:59.999Z');
    expect(await due('today')).to.have.length(3);
    expect(await due('overdue')).to.equal(['Day before', 'First minute', 'Last minute']);
    goTo('2026-03-09T04:00:00.000Z');
    expect(await due('today')).to.equal(['Next day']);
    expect(await due('overdue')).to.include('On the day');
  });

  it('is that of Auckland, and has 25 hours when clocks are put back', async () => {
    // 5 April 2026: 03:00 is 02:00 there. The day is from 11:00 UTC of the 4th to 12:00 UTC.
    goTo('2026-04-04T11:00:00.000Z');
    const { note, due } = await person('auckland', 'Pacific/Auckland');
    await note('On the day', { due: '2026-04-05' });
    await note('Shown twice', { dueAt: '2026-04-05T02:30' });
    await note('Last hour', { dueAt: '2026-04-05T11:30:00Z' });
    await note('Next day', { due: '2026-04-06' });
    expect(await due('today')).to.equal(['Shown twice', 'Last hour', 'On the day']);
    goTo('2026-04-05T11:59:59.999Z');
    expect(await due('today')).to.include('On the day');
    expect(await due('overdue')).to.equal(['Shown twice', 'Last hour']);
    goTo('2026-04-05T12:00:00.000Z');
    expect(await due('today')).to.equal(['Next day']);
  });

  it('takes the first of two equal times, and the time after a gap', async () => {
    const { note } = await person('berlin', 'Europe/Berlin');
    const twice = await note('Twice', { dueAt: '2026-10-25T02:30' });
    expect(twice.body.dueAt).to.equal('2026-10-25T00:30:00.000Z');
    const gone = await note('Gone', { dueAt: '2026-03-29T02:30' });
    expect(gone.body.dueAt).to.equal('2026-03-29T01:30:00.000Z');
  });

  it('moves with the person, but for tasks that have a zone of their own', async () => {
    goTo('2026-06-10T12:00:00.000Z');
    const { note, due, live, ask } = await person('mover', 'Pacific/Auckland');
    // It is Thursday, 11 June, 00:00 in Auckland.
    await note('Anywhere', { due: '2026-06-10' });
    const own = await note('In Auckland', { due: '2026-06-10', timezone: 'Pacific/Auckland' });
    expect(await due('overdue')).to.equal(['In Auckland', 'Anywhere'].sort());
    await live('America/New_York');
    expect(await due('overdue')).to.equal(['In Auckland']);
    expect(await due('today')).to.include('Anywhere');
    const { body } = await ask('PATCH', `/api/tasks/${own.body.id}`, { timezone: null });
    expect(body.timezone).to.equal('America/New_York');
    expect(await due('overdue')).to.equal([]);
  });

  it('does not go by the time zone of the daemon', async () => {
    goTo('2026-07-01T00:30:00.000Z');
    const { note, due } = await person('kiri', 'Pacific/Kiritimati');
    // UTC+14: it is 14:30 of the first of July.
    await note('Today', { dueAt: '2026-07-01T20:00' });
    await note('Tomorrow', { dueAt: '2026-07-02T00:00' });
    expect(await due('today')).to.equal(['Today']);
    clock.forward(10 * HOUR_MS);
    expect(await due('today')).to.equal(['Tomorrow']);
  });
});
