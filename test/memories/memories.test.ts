import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

describe('memories', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown, by = token) =>
    app.call(method, path, { token: by, ...(body !== undefined && { body }) });
  const kept = async (body: object, by = token) =>
    (await ask('POST', '/api/memories', body, by)).body;
  const found = async (query: string, by = token): Promise<string[]> =>
    (await ask('GET', `/api/memories?${query}`, undefined, by)).body.memories.map(
      ({ text }: { text: string }) => text,
    );

  it('are kept as their owner writes them, and count at once', async () => {
    const memory = await kept({ text: '  Answers in German, please.\n', about: 'preference' });
    expect(memory).to.include({
      text: 'Answers in German, please.',
      about: 'preference',
      pinned: false,
      createdBy: 'person',
      confirmed: true,
    });
    expect((await ask('GET', `/api/memories/${memory.id}`)).body).to.equal(memory);
  });

  it('are as long as they were written, also with halves of characters', async () => {
    const text = `${'x'.repeat(1989)} ${'\ud800'.repeat(10)}`;
    const { id } = await kept({ text });
    const given = await ask('GET', `/api/memories/${id}`);
    expect([given.status, given.body.text]).to.equal([200, text.replaceAll('\ud800', '\ufffd')]);
    expect(await found('q=xx')).to.equal([]);
    expect((await ask('GET', '/api/memories')).status).to.equal(200);
    expect((await ask('DELETE', `/api/memories/${id}`)).status).to.equal(204);
  });

  it('are found by any of their words, in whatever form', async () => {
    await kept({ text: 'The staging servers are called argon and xenon.' });
    await kept({ text: '東京の事務所は三階です。' });
    const staging = ['The staging servers are called argon and xenon.'];
    for (const q of ['server', 'ARGON', 'nothing xenon', 'stäging']) {
      expect(await found(`q=${encodeURIComponent(q)}`), q).to.equal(staging);
    }
    expect(await found(`q=${encodeURIComponent('事務所')}`)).to.equal(['東京の事務所は三階です。']);
    expect(await found('q=%22%20OR%201%3D1%20--')).to.equal([]);
    expect(await found('q=the')).to.equal([]);
    expect(await found('about=preference')).to.equal(['Answers in German, please.']);
  });

  it('are found by their new words after a change, and by the old ones no more', async () => {
    const { id } = await kept({ text: 'The office key is with Grace.' });
    const changed = await ask('PATCH', `/api/memories/${id}`, { text: 'Ask Linus for the key.' });
    expect(changed.body.text).to.equal('Ask Linus for the key.');
    expect(await found('q=grace')).to.equal([]);
    expect(await found('q=linus')).to.equal(['Ask Linus for the key.']);
    await ask('PATCH', `/api/memories/${id}`, { pinned: true });
    expect(await found('pinned=true')).to.equal(['Ask Linus for the key.']);
    expect((await ask('DELETE', `/api/memories/${id}`)).status).to.equal(204);
    expect(await found('q=linus')).to.equal([]);
    expect((await ask('DELETE', `/api/memories/${id}`)).status).to.equal(404);
  });

  it('are there once: the same text again is refused, also by a change', async () => {
    const { id } = await kept({ text: 'Once' });
    const again = await ask('POST', '/api/memories', { text: 'Once ' });
    expect([again.status, again.body.code]).to.equal([409, 'memory_exists']);
    const other = await kept({ text: 'Twice' });
    const change = await ask('PATCH', `/api/memories/${other.id}`, { text: 'Once' });
    expect([change.status, change.body.code]).to.equal([409, 'memory_exists']);
    expect((await ask('PATCH', `/api/memories/${id}`, { text: 'Once' })).status).to.equal(200);
  });

  it('name the field of what they cannot be', async () => {
    const empty = await ask('POST', '/api/memories', { text: ' \n ' });
    expect([empty.status, empty.body.details[0].path]).to.equal([400, 'text']);
    const long = await ask('POST', '/api/memories', { text: 'x'.repeat(2001) });
    expect([long.status, long.body.details[0].path]).to.equal([400, 'text']);
  });

  it('are those of one person alone, whatever words others share', async () => {
    const bob = await app.register('bob');
    await kept({ text: 'The secret of the safe is ninety-nine.' });
    expect(await found('q=safe', bob.token)).to.equal([]);
    expect(await found('', bob.token)).to.equal([]);
    const theirs = await kept({ text: 'The secret of the safe is ninety-nine.' }, bob.token);
    expect(theirs.createdBy).to.equal('person');
    expect((await ask('DELETE', `/api/memories/${theirs.id}`)).status).to.equal(404);
    expect((await ask('PATCH', `/api/memories/${theirs.id}`, { text: 'x' })).status).to.equal(404);
    expect(await found('q=safe', bob.token)).to.have.length(1);
  });

  it('are at most 5,000', async () => {
    const eve = await app.register('eve');
    const row = (n: number) => ({
      ...{ id: `memory_${String(n).padStart(26, '0')}`, user_id: eve.id, text: `Number ${n}` },
      ...{ about: 'fact' as const, created_by: 'person', confirmed: 1 },
      ...{ created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' },
    });
    for (let from = 0; from < 5000; from += 500) {
      const rows = Array.from({ length: 500 }, (_, n) => row(from + n));
      await app.app.store.db.insertInto('memories').values(rows).execute();
    }
    const reply = await ask('POST', '/api/memories', { text: 'One more' }, eve.token);
    expect([reply.status, reply.body.code]).to.equal([409, 'too_many_memories']);
  });
});
