import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createLog } from '../../../src/kernel/log.js';
import { createLogRing } from '../../../src/kernel/ring.js';
import { frozenClock, startApp, type TestApp } from '../../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const START = Date.parse('2026-03-01T12:00:00.000Z');

describe('the log of the daemon', () => {
  let app: TestApp;
  let token: string;
  const read = (query = '') => app.call('GET', `/api/admin/logs${query}`, { token });
  const say = (level: 'info' | 'error', message: string, data: object = {}) =>
    createLog('info', { clock: frozenClock(), ring: app.recent, to: { write: () => undefined } })[
      level
    ](data, message);

  before(async () => {
    app = await startApp({ clock: frozenClock() });
    token = (await app.register('ada')).token;
  });
  after(() => app.stop());

  it('is told from a number on, with what belongs to a line, and its secrets not', async () => {
    // The first one of an hour is recorded, which the log tells.
    await read('?after=1');
    const { lastId } = (await read('?after=1')).body;
    say('error', 'request failed', { path: '/api/x', token: 'abc', inner: { password: 'p' } });
    const { status, body } = await read(`?after=${lastId}`);
    expect({ status, ...body, oldestId: 0 }).to.equal({
      status: 200,
      entries: [
        {
          id: lastId + 1,
          at: '2026-03-01T12:00:00.000Z',
          level: 'error',
          message: 'request failed',
          data: { path: '/api/x', token: '[secret]', inner: { password: '[secret]' } },
        },
      ],
      lastId: lastId + 1,
      oldestId: 0,
      gap: false,
    });
  });

  it('gives the newest without a number, and none that is less grave than asked', async () => {
    for (const number of [1, 2, 3]) say('error', `bad ${number}`);
    say('info', 'fine');
    const { entries } = (await read('?level=warn&limit=2')).body;
    expect(entries.map(({ message }: { message: string }) => message)).to.equal(['bad 2', 'bad 3']);
  });

  it('goes on where a page of it ended', async () => {
    const { lastId } = (await read('?after=1&limit=1000')).body;
    for (const number of [1, 2, 3]) say('error', `page ${number}`);
    const first = (await read(`?after=${lastId}&limit=2&level=error`)).body;
    const second = (await read(`?after=${first.lastId}&limit=2&level=error`)).body;
    const messages = [...first.entries, ...second.entries].map(({ message }) => message);
    expect(messages).to.equal(['page 1', 'page 2', 'page 3']);
  });

  it('answers who waits with the line that comes, and is no line itself', async () => {
    const { lastId } = (await read('?after=1&limit=1000')).body;
    // Recorded once, which the log tells; from then on waiting leaves no trace.
    const since = (await read(`?after=${lastId}`)).body.lastId;
    const waiting = read(`?after=${since}&wait=20`);
    await app.call('GET', '/health');
    say('info', 'at last');
    const { entries } = (await waiting).body;
    expect(entries.map(({ message }: { message: string }) => message)).to.equal(['at last']);
    expect((await read(`?after=${since + 1}`)).body.entries).to.equal([]);
  });

  it('is recorded once an hour while it is followed, and each time that it is begun', async () => {
    const counted = async () => {
      const { entries } = (await app.call('GET', '/api/admin/audit?action=logs.list', { token }))
        .body;
      return entries.length;
    };
    await read('?after=1');
    const known = await counted();
    await read('?after=1');
    expect(await counted()).to.equal(known);
    await read();
    expect(await counted()).to.equal(known + 1);
  });

  it('tells of lines that are not held any more', async () => {
    expect((await read('?after=1')).body.gap).to.be.true();
    const ring = createLogRing(START);
    for (let number = 1; number <= 2500; number++)
      ring.write(`{"level":"info","msg":"${number}"}\n`);
    expect(ring.ends()).to.equal({ oldest: START + 501, last: START + 2500 });
    expect(ring.after(START + 2499).map(({ text }) => text)).to.equal([
      '{"level":"info","msg":"2500"}',
    ]);
    expect(ring.after(START).length).to.equal(2000);
  });

  it('holds a megabyte, and of a line its beginning', () => {
    const ring = createLogRing(START);
    for (let number = 0; number < 100; number++) {
      ring.write(`{"level":"warn","msg":"${'x'.repeat(1_000_000)}"}`);
    }
    const kept = ring.after(null);
    expect(kept.length).to.equal(64);
    expect(kept[0]?.level).to.equal('warn');
  });

  it('tells of a line that was cut what is left of it', async () => {
    const { lastId } = (await read('?after=1&limit=1000')).body;
    say('error', 'x'.repeat(20_000));
    const [entry] = (await read(`?after=${lastId}`)).body.entries;
    expect([entry.level, entry.at, entry.message.length]).to.equal(['error', null, 16_384]);
  });

  it('is for admins alone, and names what it does not understand', async () => {
    expect((await app.call('GET', '/api/admin/logs')).status).to.equal(401);
    const bob = await app.register('bob');
    expect((await app.call('GET', '/api/admin/logs', { token: bob.token })).status).to.equal(403);
    const { status, body } = await read('?level=loud&wait=31');
    expect(status).to.equal(400);
    expect(body.details.map(({ path }: { path: string }) => path)).to.equal(['level', 'wait']);
  });
});
