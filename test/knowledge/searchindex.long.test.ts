import { copyFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { findChunks } from '../../src/knowledge/procedures/find.js';
import { dropOwner, openToSearch } from '../../src/knowledge/procedures/searchdb.js';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import { writeEntries } from '../harness/chunks.js';
import { seedEntry } from '../harness/entry.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const SUFFIXES = ['', '-wal', '-shm'];

describe('the search index', () => {
  let app: TestApp;
  let user: { id: string; token: string };
  before(async () => {
    app = await startApp();
    user = await app.register('ada');
    await seedEntry(app, user.token, 'The first entry is about penguins.');
  });
  after(() => app.stop());

  const file = (name: string): string => join(app.home, name);
  const search = async (query: string) => {
    const body = { query, mode: 'keyword' };
    return (await app.call('POST', '/api/knowledge/search', { token: user.token, body })).body;
  };
  const count = async (query: string): Promise<number> => (await search(query)).results.length;
  const isFound = (query: string) => untilMatches(() => count(query), 1);
  /** Closes the daemon, changes its files, and opens it again. */
  const between = async (change: () => Promise<void>): Promise<void> => {
    await app.app.close();
    await change();
    await app.restart().catch(async () => app.restart());
  };
  const removeIndex = async (): Promise<void> => {
    for (const suffix of SUFFIXES) await rm(file(`search.db${suffix}`), { force: true });
  };

  it('is made anew if it is missing at the start', async () => {
    await between(removeIndex);
    await isFound('penguins');
  });

  it('is made anew if it is damaged', async () => {
    await between(() => writeFile(file('search.db'), 'this is no database '.repeat(1000)));
    await isFound('penguins');
    await between(() => truncate(file('search.db'), 8192));
    await isFound('penguins');
  });

  it('is made anew while the daemon runs, and says so', async () => {
    await removeIndex();
    const { degraded } = await search('penguins');
    expect(degraded).to.contain('being rebuilt');
    await isFound('penguins');
    expect((await search('penguins')).degraded).to.be.null();
  });

  it('follows the database back to an earlier state', async () => {
    await app.app.close();
    await copyFile(file('adjutant.db'), file('earlier.db'));
    await app.restart().catch(() => app.restart());
    const later = await seedEntry(app, user.token, 'A later entry is about walruses.');
    expect(await count('walruses')).to.equal(1);
    await between(async () => {
      for (const suffix of SUFFIXES) await rm(file(`adjutant.db${suffix}`), { force: true });
      await copyFile(file('earlier.db'), file('adjutant.db'));
    });
    expect(
      (await app.call('GET', `/api/knowledge/${later}`, { token: user.token })).status,
    ).to.equal(404);
    await seedEntry(app, user.token, 'Another entry is about ospreys.');
    expect(await count('ospreys')).to.equal(1);
    expect(await count('walruses')).to.equal(0);
    expect(await count('penguins')).to.equal(1);
  });

  it('takes over what an earlier start has left', async () => {
    await writeEntries(app, user.id, [['Left behind are the herons.']]);
    await app.restart();
    await isFound('herons');
  });

  it('keeps no more of the changes than it needs', async () => {
    await seedEntry(app, user.token, 'One more.');
    await until(
      async () => app.app.store.db.selectFrom('knowledge_changes').selectAll().execute(),
      (rows) => rows.length === 1,
    );
    const index = new Database(file('search.db'), { readonly: true });
    const chunks = index.prepare('SELECT count(*) FROM chunks').pluck().get();
    index.close();
    const { body } = await app.call('GET', '/api/knowledge/stats', { token: user.token });
    expect(chunks).to.equal(body.chunks);
  });

  it('lets the indexing of an entry be cancelled', async () => {
    const text = 'Words that fill a chunk and nothing else. '.repeat(40);
    const many = Array.from({ length: 20 }, () => Array.from({ length: 300 }, () => text));
    await writeEntries(app, user.id, many);
    const body = { text: 'The cancelled entry is about lemurs.' };
    const { token } = user;
    const begun = await app.call('POST', '/api/knowledge/index', { token, body });
    const path = `/api/operations/${begun.body.id}/cancel`;
    const cancelled = await app.call('POST', path, { token });
    expect([cancelled.status, cancelled.body.status]).to.equal([200, 'cancelled']);
    const { id } = begun.body.resource;
    const { body: entry } = await app.call('GET', `/api/knowledge/${id}`, { token });
    expect([entry.status, entry.error]).to.equal(['failed', 'Indexing was cancelled']);
  });

  it('stays readable for a search during which its owner is removed', async () => {
    const eve = await app.register('eve');
    await seedEntry(app, eve.token, 'The only entry of eve is about wombats.');
    const writer = new Database(file('search.db'));
    const owner = writer.prepare<[string], number>('SELECT id FROM owners WHERE user_id = ?');
    const databases = openToSearch(app.home);
    if (!databases) throw new Error('There is no index');
    const prepare = databases.search.prepare.bind(databases.search);
    let removed = 0;
    databases.search.prepare = (source: string) => {
      const id = source.includes('MATCH') ? owner.pluck().get(eve.id) : undefined;
      if (id !== undefined) dropOwner(writer, id);
      removed += id === undefined ? 0 : 1;
      return prepare(source);
    };
    const request = { home: app.home, userId: eve.id, query: 'wombats', filter: {}, limit: 10 };
    const { results } = await findChunks(databases, { ...request, meaning: null, byWords: true });
    expect([removed, results?.map(({ matched }) => matched)]).to.equal([1, [['word']]]);
    for (const database of [writer, databases.search, databases.main]) database.close();
  });
});
