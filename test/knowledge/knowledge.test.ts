import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, until } from '../harness/app.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

interface Result {
  entryId: string;
  title: string;
  chunk: number;
  snippet: string;
  highlights: [number, number][];
  matched: string[];
}

describe('knowledge', () => {
  let app: TestApp;
  let token: string;
  before(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown, by = token) =>
    app.call(method, path, { token: by, ...(body !== undefined && { body }) });
  const settled = (id: string, by = token) =>
    until(
      async () => (await ask('GET', `/api/knowledge/${id}`, undefined, by)).body,
      ({ status }) => status !== 'indexing',
    );
  const kept = async (text: string, more: object = {}, by = token) => {
    const { body } = await ask('POST', '/api/knowledge', { text, ...more }, by);
    return settled(body.id, by);
  };
  const search = async (query: string, more: object = {}, by = token) =>
    (await ask('POST', '/api/knowledge/search', { query, ...more }, by)).body;
  const titles = async (query: string, more: object = {}, by = token): Promise<string[]> =>
    (await search(query, more, by)).results.map(({ title }: Result) => title);
  /** The pieces of the snippet that are marked. */
  const marked = ({ snippet, highlights }: Result): string[] =>
    highlights.map(([from, to]) => snippet.slice(from, to));

  it('stores nothing of a search, so that it can be asked at each key', async () => {
    const headers = { 'idempotency-key': 'one search' };
    const asked = { token, headers, body: { query: 'argon' } };
    expect((await app.call('POST', '/api/knowledge/search', asked)).status).to.equal(200);
    const { db } = app.app.store;
    const stored = db.selectFrom('idempotency').select('route').execute();
    expect((await stored).filter(({ route }) => route.includes('search'))).to.equal([]);
  });

  it('keeps halves of characters as long as they were, in the text, the title and a passage', async () => {
    const broken = `Broken \ud800 ${'\udc00'.repeat(190)}`;
    const entry = await kept(`${broken} fennel`, { title: broken });
    const whole = `Broken \ufffd ${'\ufffd'.repeat(190)}`;
    expect([entry.title, entry.chars]).to.equal([whole, broken.length + 7]);
    const passage = await ask('GET', `/api/knowledge/${entry.id}/chunks/0`);
    expect(passage.body.text).to.include(`${whole} fennel`);
    const { results } = await search('fennel');
    expect(results.map(({ title }: Result) => title)).to.equal([whole]);
  });

  it('keeps a note, and finds it by its words', async () => {
    const entry = await kept('# Staging\n\nThe staging servers are argon and xenon.', {
      tags: ['servers'],
    });
    expect(entry).to.include({
      ...{ title: 'Staging', sourceType: 'note', sourceId: null, uri: null, trust: 'owner' },
      ...{ chunks: 1, chars: 51, language: 'en', status: 'ready', error: null, truncated: false },
      ...{ content: '# Staging\n\nThe staging servers are argon and xenon.' },
    });
    const { mode, degraded, results } = await search('Which SERVER is xenon?');
    expect([mode, degraded]).to.equal([
      'keyword',
      'The built-in embedder is turned off and no other embedding model is configured. Only keyword search was used',
    ]);
    const [first] = results;
    expect(first).to.include({ entryId: entry.id, chunk: 0, score: 1, matched: ['word'] });
    expect(marked(first)).to.equal(['servers', 'xenon']);
  });

  it('reads quotes and exclusions, and all else as words', async () => {
    await kept('Alpha beta gamma delta', { title: 'forward' });
    await kept('Delta gamma beta alpha', { title: 'backward' });
    expect(await titles('"beta gamma"')).to.equal(['forward']);
    expect(await titles('“gamma beta”')).to.equal(['backward']);
    expect((await titles('beta gamma')).sort()).to.equal(['backward', 'forward']);
    expect(await titles('beta -"gamma delta"')).to.equal(['backward']);
    expect(await titles('delta -backward')).to.equal(['forward']);
    for (const query of ['-beta', '-"beta gamma"', '***', '""', '-']) {
      const { status, body } = await ask('POST', '/api/knowledge/search', { query });
      expect([status, body.code, body.details?.[0].path], query).to.equal([
        ...[400, 'nothing_to_find', 'query'],
      ]);
    }
    for (const odd of [
      ...['NEAR(beta gamma)', 'beta AND nothing', 'title:beta', 'beta*', '(beta', 'beta)'],
      ...['"beta', '^beta', '{a b}: beta', 'beta OR', 'NOT beta', 'beta + gamma', "beta'; DROP"],
      ...['owner : beta', 'beta\u0000', '\\beta', '- beta', 'o1 beta'],
    ]) {
      expect((await titles(odd)).length, odd).to.be.at.least(1);
    }
    expect(await titles('o1')).to.equal([]);
  });

  it('marks a word in each of its forms, beside accents and without any', async () => {
    const forms =
      'Sensibilities, sensibly; the SENSIBLE. Hoped: hopes, hoping. Insensible, a hope9.';
    for (const text of [forms, `Café. ${forms}`]) {
      await kept(text, { title: 'forms' });
      const { results } = await search('sensible hope "hoping"');
      expect(marked(results[0]), text).to.equal([
        ...['Sensibilities', 'sensibly', 'SENSIBLE'],
        ...['Hoped', 'hopes', 'hoping'],
      ]);
      await ask('DELETE', `/api/knowledge/${results[0].entryId}`);
    }
  });

  it('is ready, whatever the form of its accents and letters', async () => {
    for (const text of [
      ...['Die Prüfung der Gerätschaften', 'Une forêt très éloignée à côté'].map((each) =>
        each.normalize('NFD'),
      ),
      ...['Oʻzbekiston bugun yoʻl ochdi', 'µm values of kΩm plates here', 'Hawaiʻi is an island'],
    ]) {
      const { status, error } = await kept(text);
      expect([status, error], text).to.equal(['ready', null]);
    }
  });

  it('finds words of many languages, in whatever form', async () => {
    await kept('Die Straße nach Süden ist geöffnet.', { title: 'de' });
    await kept('東京都庁の展望室は無料で入れます。猫もいます。', { title: 'ja' });
    await kept('ภาษาไทยไม่มีช่องว่างระหว่างคำ', { title: 'th' });
    await kept('Ελληνικά κείμενα με τόνους', { title: 'el' });
    const cases: [string, string, string[]][] = [
      ['STRASSE', 'de', ['Straße']],
      ['geoffnet suden', 'de', ['Süden', 'geöffnet']],
      ['都庁', 'ja', ['都庁']],
      ['"展望室は無料"', 'ja', ['展望室は無料']],
      ['猫', 'ja', ['猫']],
      ['ช่องว่าง', 'th', ['ช่องว่าง']],
      ['τονους', 'el', ['τόνους']],
    ];
    for (const [query, title, marks] of cases) {
      const [first] = (await search(query)).results;
      expect([first?.title, first && marked(first)], query).to.equal([title, marks]);
    }
    expect(await titles('"無料展望室"')).to.equal([]);
  });

  it('finds parts of words where whole words are not enough', async () => {
    await kept('Die Donaudampfschifffahrt ruht im Winter.', { title: 'ship' });
    const [found] = (await search('dampfschiff')).results;
    expect([found.title, found.matched, marked(found)]).to.equal([
      ...['ship', ['part'], ['Donaudampfschifffahrt']],
    ]);
    expect(await titles('am')).to.equal([]);
  });

  it('narrows a search by what entries are', async () => {
    await kept('The narrow river', { title: 'a', tags: ['water', 'long'] });
    const { id } = await kept('The narrow street', { title: 'b', tags: ['long'] });
    const cases: [object, string[]][] = [
      [{ tags: ['long'] }, ['a', 'b']],
      [{ tags: ['long', 'water'] }, ['a']],
      [{ entryIds: [id] }, ['b']],
      [{ sourceType: ['note', 'page'] }, ['a', 'b']],
      [{ sourceType: ['page'] }, []],
      [{ trust: 'outside' }, []],
      [{ since: '2020-01-01T00:00:00.000Z' }, ['a', 'b']],
      [{ until: '2020-01-01T00:00:00.000Z' }, []],
    ];
    for (const [filters, expected] of cases) {
      expect((await titles('narrow', { filters })).sort(), JSON.stringify(filters)).to.equal(
        expected,
      );
    }
    await ask('PATCH', `/api/knowledge/${id}`, { tags: ['water'], title: 'renamed' });
    const now = await until(
      () => titles('narrow', { filters: { tags: ['water'] } }),
      (found) => found.length === 2,
    );
    expect(now.sort()).to.equal(['a', 'renamed']);
  });

  it('splits a long text by its structure and gives it back whole', async () => {
    const paragraph = (n: number): string =>
      `Paragraph ${n}. ${`Sentence ${n} says a little more than the others do. `.repeat(12)}`.trim();
    const section = (n: number): string =>
      `## Part ${n}\n\n${[1, 2, 3].map((m) => paragraph(n * 10 + m)).join('\n\n')}`;
    const text = `# Book\n\n${[1, 2, 3, 4].map(section).join('\n\n')}`;
    const entry = await kept(text, { title: 'book' });
    expect([entry.content, entry.chars, entry.title]).to.equal([text, text.length, 'book']);
    const chunks = await Promise.all(
      Array.from({ length: entry.chunks }, async (_, n) => {
        return (await ask('GET', `/api/knowledge/${entry.id}/chunks/${n}`)).body;
      }),
    );
    const words = chunks.map((chunk) => chunk.text.split(/\s+/).length);
    expect(Math.max(...words)).to.be.at.most(400);
    expect(chunks[0]).to.include({ before: null, after: 1, heading: 'Book', page: null });
    expect(chunks.at(-1)).to.include({ after: null, heading: 'Book › Part 4' });
    const beyond = await ask('GET', `/api/knowledge/${entry.id}/chunks/${entry.chunks}`);
    expect(beyond.status).to.equal(404);
  });

  it('refuses a note without text', async () => {
    for (const path of ['/api/knowledge', '/api/knowledge/index']) {
      for (const text of ['', ' \n\t ']) {
        const { status, body } = await ask('POST', path, { text, title: 'empty' });
        expect([status, body.details.map((fault: { path: string }) => fault.path)], path).to.equal([
          ...[400, ['text']],
        ]);
      }
    }
  });

  it('indexes a text as an operation, and forgets what is deleted', async () => {
    const { status, body } = await ask('POST', '/api/knowledge/index', {
      text: 'The quokka smiles.',
    });
    expect([status, body.kind, body.title]).to.equal([
      ...[202, 'knowledge.index', 'Indexing of The quokka smiles.'],
    ]);
    const done = await until(
      async () => (await ask('GET', `/api/operations/${body.id}`)).body,
      (operation) => operation.status === 'completed',
    );
    const { entryId } = done.result;
    expect(await titles('quokka')).to.equal(['The quokka smiles.']);
    expect((await ask('DELETE', `/api/knowledge/${entryId}`)).status).to.equal(204);
    expect(await titles('quokka')).to.equal([]);
    expect((await ask('DELETE', `/api/knowledge/${entryId}`)).status).to.equal(404);
  });

  it('lists, filters and counts', async () => {
    const eve = (await app.register('eve')).token;
    await kept('Über den Dächern', { tags: ['x'] }, eve);
    await kept('Second', {}, eve);
    const list = async (query: string) =>
      (await ask('GET', `/api/knowledge?${query}`, undefined, eve)).body.entries.map(
        ({ title }: { title: string }) => title,
      );
    expect(await list('')).to.equal(['Second', 'Über den Dächern']);
    expect(await list('q=uber')).to.equal(['Über den Dächern']);
    expect(await list('tag=x')).to.equal(['Über den Dächern']);
    expect(await list('sourceType=page')).to.equal([]);
    expect(await list('trust=owner&since=2020-01-01')).to.equal(['Second', 'Über den Dächern']);
    const { body } = await ask('GET', '/api/knowledge/stats', undefined, eve);
    expect(body).to.equal({
      ...{ total: 2, chunks: 2, chars: 22, bySourceType: { note: 2 } },
      embedding: { model: null, dimensions: null, embedded: 0, pending: 0 },
      modes: {
        ...{ keyword: true, semantic: false, hybrid: false },
        reason: 'The built-in embedder is turned off and no other embedding model is configured',
      },
    });
  });

  it('says what it takes to search by meaning', async () => {
    const body = { query: 'x', mode: 'semantic' };
    const { status, body: refused } = await ask('POST', '/api/knowledge/search', body);
    expect([status, refused.code]).to.equal([503, 'no_embedder']);
    expect(refused.message).to.contain('embeddings');
  });

  it('refuses a query of a megabyte at once', async () => {
    const body = { query: 'word '.repeat(200_000) };
    const { status, body: refused } = await ask('POST', '/api/knowledge/search', body);
    expect([status, refused.details[0].path]).to.equal([400, 'query']);
    const longest = await ask('POST', '/api/knowledge/search', { query: 'ab '.repeat(666) });
    expect(longest.status).to.equal(200);
  });
});
