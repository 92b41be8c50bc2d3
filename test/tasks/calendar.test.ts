import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import ICAL from 'ical.js';
import { frozenClock, startApp } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

/** Characters that the format escapes, folds or does not allow. */
const ODD = 'Comma, semicolon; back\\slash: ünï 東京 😀 "quote" BEGIN:VEVENT';

describe('the calendar of tasks', () => {
  const clock = frozenClock();
  const app = openForSuite(lab, () => startApp({ clock }));
  let owner: { id: string; token: string };
  let users = 0;
  beforeEach(async () => {
    owner = await app.register(`person${++users}`);
  });

  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, { token: owner.token, ...(body !== undefined && { body }) });
  const note = async (title: string, more: object = {}): Promise<string> =>
    (await ask('POST', '/api/tasks', { title, ...more })).body.id;
  const address = async (): Promise<string> => {
    const { url } = (await ask('POST', '/api/tasks/feed')).body;
    return url.slice(url.indexOf('/api/'));
  };
  const read = (path: string) => app.call('GET', path);
  const eventsIn = (text: string) =>
    new ICAL.Component(ICAL.parse(text))
      .getAllSubcomponents('vevent')
      .map((each) => new ICAL.Event(each));

  it('has what is due and not done, as an independent parser reads it', async () => {
    const day = await note(ODD, { due: '2026-03-29', priority: 3, tags: ['a', 'b'] });
    const notes = `${'ä'.repeat(90)}\n${'😀'.repeat(40)}, end;\r\nEND:VCALENDAR\u0000\u0007`;
    const time = await note('At a time', { dueAt: '2026-03-29T02:30:00+02:00', notes });
    await note('Some time');
    await ask('POST', `/api/tasks/${await note('Done', { due: '2026-03-29' })}/complete`);
    const reply = await read(await address());
    expect(reply.status).to.equal(200);
    expect(reply.headers['content-type']).to.equal('text/calendar; charset=utf-8');
    const [timed, dated, ...others] = eventsIn(reply.text);
    expect(others).to.equal([]);
    expect([dated?.uid, dated?.summary]).to.equal([`${day}@adjutant`, ODD]);
    expect([dated?.startDate.toString(), dated?.endDate.toString()]).to.equal([
      '2026-03-29',
      '2026-03-30',
    ]);
    expect(dated?.component.getFirstPropertyValue('priority')).to.equal(1);
    expect(dated?.component.getFirstProperty('categories')?.getValues()).to.equal(['a', 'b']);
    expect([timed?.uid, timed?.startDate.toString(), timed?.endDate.toString()]).to.equal([
      ...[`${time}@adjutant`, '2026-03-29T00:30:00Z', '2026-03-29T00:45:00Z'],
    ]);
    expect(timed?.description).to.equal(
      `${'ä'.repeat(90)}\n${'😀'.repeat(40)}, end;\nEND:VCALENDAR`,
    );
    expect(timed?.component.getFirstPropertyValue('dtstamp')?.toString()).to.equal(
      '2026-03-01T12:00:00Z',
    );
  });

  it('has each of many tasks once, by their times, with the beginning of long notes', async () => {
    const ids: string[] = [];
    for (let minute = 0; minute < 60; minute++) {
      const dueAt = `2026-03-29T10:${String(minute).padStart(2, '0')}:00Z`;
      ids.push(await note(`BEGIN:VEVENT ${minute}`, { dueAt, notes: 'n'.repeat(3000) }));
    }
    const events = eventsIn((await read(await address())).text);
    expect(events.map(({ uid }) => uid)).to.equal(ids.map((id) => `${id}@adjutant`));
    expect(events[59]?.description).to.equal(`${'n'.repeat(2000)}\n… 1000 more characters`);
  });

  it('ends its lines with CRLF, none longer than 75 octets', async () => {
    await note('x'.repeat(500), { due: '2026-03-29', notes: '東京'.repeat(300) });
    const { text } = await read(await address());
    expect(text.replaceAll('\r\n', '')).to.not.match(/[\r\n]/);
    const lengths = text.split('\r\n').map((line) => Buffer.byteLength(line));
    expect(Math.max(...lengths)).to.be.at.most(75);
  });

  it('keeps the ids of its events, and changes the rest with the task', async () => {
    const id = await note('Before', { due: '2026-03-29' });
    const path = await address();
    const [before] = eventsIn((await read(path)).text);
    clock.forward(60_000);
    await ask('PATCH', `/api/tasks/${id}`, { title: 'After' });
    const [after] = eventsIn((await read(path)).text);
    expect([after?.uid, after?.summary]).to.equal([before?.uid, 'After']);
    const stampOf = (event: ICAL.Event | undefined) =>
      event?.component.getFirstPropertyValue('dtstamp')?.toString();
    expect([stampOf(before), stampOf(after)].map((each) => each?.slice(11))).to.not.equal([
      stampOf(after)?.slice(11),
      stampOf(after)?.slice(11),
    ]);
  });

  it('has an address of which the hash alone is stored; a new one ends it', async () => {
    const first = await address();
    const [row] = await app.app.store.db
      .selectFrom('task_feeds')
      .selectAll()
      .where('user_id', '=', owner.id)
      .execute();
    const token = first.split('token=')[1] ?? '';
    expect(JSON.stringify(row)).to.not.contain(token);
    const second = await address();
    expect((await read(first)).status).to.equal(404);
    expect((await read(second)).status).to.equal(200);
    expect((await ask('DELETE', '/api/tasks/feed')).status).to.equal(204);
    expect((await read(second)).status).to.equal(404);
    expect((await ask('DELETE', '/api/tasks/feed')).status).to.equal(404);
  });

  it('opens for its token alone, and not for a disabled user', async () => {
    const path = await address();
    for (const wrong of ['/api/tasks.ics', '/api/tasks.ics?token=', `${path}x`]) {
      expect((await read(wrong)).status, wrong).to.equal(404);
    }
    await app.app.store.db
      .updateTable('users')
      .set({ disabled_at: '2026-03-01T12:00:00.000Z' })
      .where('id', '=', owner.id)
      .execute();
    expect((await read(path)).status).to.equal(404);
  });

  it('is in no line of the log with its token', async () => {
    const path = await address();
    await read(path);
    // Reads are logged where everything is; a write at this path always is.
    await app.call('POST', path);
    const lines = app.recent.after(null).filter(({ text }) => text.includes('tasks.ics'));
    expect(lines).to.have.length(1);
    const token = path.split('token=')[1] ?? '';
    expect(lines[0]?.text).to.not.contain(token.slice(0, 20));
  });
});
