import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { startApp, type TestApp, until } from '../harness/app.js';
import { seedEntry } from '../harness/entry.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const TEXTS = {
  pasta: 'Boil the noodles in salted water for nine minutes, then drain them.',
  car: 'The engine of the automobile needs new oil every ten thousand kilometres.',
  tax: 'The income statement must reach the revenue office before the end of May.',
};

describe('the built-in embedder', () => {
  let app: TestApp;
  let user: { id: string; token: string };
  const ids: Record<string, string> = {};
  before(async () => {
    app = await startApp({ config: { builtinEmbedder: true } });
    user = await app.register('ada');
    for (const [name, text] of Object.entries(TEXTS)) {
      ids[name] = await seedEntry(app, user.token, text);
    }
    await until(
      () => stats(),
      ({ embedding }) => embedding.pending === 0,
      100_000,
    );
  });
  after(() => app.stop());

  const get = async (path: string) => (await app.call('GET', path, { token: user.token })).body;
  const stats = () => get('/api/knowledge/stats');
  const search = async (query: string, more: object = {}) => {
    const body = { query, ...more };
    return (await app.call('POST', '/api/knowledge/search', { token: user.token, body })).body;
  };

  it('finds by meaning what has none of the words', async () => {
    const query = 'how do I cook spaghetti?';
    expect((await search(query, { mode: 'keyword' })).results).to.equal([]);
    const hybrid = await search(query);
    expect([hybrid.mode, hybrid.degraded]).to.equal(['hybrid', null]);
    expect(hybrid.results[0]).to.include({ entryId: ids.pasta, matched: ['meaning'] });
    const semantic = await search(query, { mode: 'semantic', limit: 1 });
    expect(semantic.mode).to.equal('semantic');
    expect(semantic.results.map((each: { entryId: string }) => each.entryId)).to.equal([ids.pasta]);
  });

  it('is asked nothing that English has no letters for, and knows that the nearest may be far', async () => {
    expect((await search('Kündigungsfrist')).results).to.equal([]);
    const { results } = await search('cooking spaghetti', { limit: 50 });
    for (const { score } of results) expect(score <= 0.3 / 1.3).to.be.true();
    const [first] = (await search('drain the noodles')).results;
    expect([first.entryId, first.score > 0.7]).to.equal([ids.pasta, true]);
  });

  it('is told of in stats and in the entries', async () => {
    const { embedding, modes } = await stats();
    expect(embedding).to.equal({ model: 'builtin', dimensions: 512, embedded: 3, pending: 0 });
    expect(modes).to.equal({ keyword: true, semantic: true, hybrid: true, reason: null });
    expect((await get(`/api/knowledge/${ids.car}`)).embeddedWith).to.equal('builtin');
  });

  it('keeps phrases and exclusions, and filters before it compares', async () => {
    const found = async (query: string, more: object = {}) => {
      const { results } = await search(query, { mode: 'semantic', ...more });
      return results.map((each: { entryId: string }) => each.entryId);
    };
    expect(await found('cooking spaghetti -noodles')).to.not.include(ids.pasta);
    expect(await found('cooking spaghetti "salted water"')).to.equal([ids.pasta]);
    const filters = { entryIds: [ids.tax] };
    expect(await found('when do I have to declare what I earn?', { filters })).to.equal([ids.tax]);
    expect(await found('cooking', { filters: { tags: ['none'] } })).to.equal([]);
  });

  it('leaves other languages to words, and says so', async () => {
    const german = 'Die Rechnung für das Auto ist nicht von uns und muss noch bezahlt werden.';
    const id = await seedEntry(app, user.token, german);
    const { modes } = await until(stats, ({ embedding }) => embedding.pending === 0);
    expect(modes.reason).to.equal(
      'builtin supports only English. 1 chunks can only be found by keywords',
    );
    expect((await get(`/api/knowledge/${id}`)).embeddedWith).to.be.null();
    const asked = await search('wo ist die Rechnung für das Auto?');
    expect([asked.mode, asked.results[0].entryId]).to.equal(['keyword', id]);
    expect(asked.degraded).to.equal(
      'The embedder builtin supports only English. Only keyword search was used',
    );
    const refused = await app.call('POST', '/api/knowledge/search', {
      token: user.token,
      body: { query: 'wo ist die Rechnung für das Auto?', mode: 'semantic' },
    });
    expect([refused.status, refused.body.code]).to.equal([503, 'no_embedder']);
  });

  it('forgets the vectors of what is deleted', async () => {
    const vectors = () => app.app.store.db.selectFrom('knowledge_vectors').select('hash').execute();
    expect(await vectors()).to.have.length(3);
    await app.call('DELETE', `/api/knowledge/${ids.car}`, { token: user.token });
    expect(await vectors()).to.have.length(2);
    const index = new Database(join(app.home, 'search.db'), { readonly: true });
    await until(
      async () => index.prepare('SELECT count(*) FROM vectors_1').pluck().get(),
      (count) => count === 2,
    );
    index.close();
  });
});
