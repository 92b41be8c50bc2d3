import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { KnowledgeFilter } from '../../src/knowledge/procedures/filter.js';
import type { FoundChunk } from '../../src/knowledge/procedures/find.js';
import { queryFault } from '../../src/knowledge/procedures/querypieces.js';
import { knowledgeTasks } from '../../src/knowledge/procedures/tasks.js';
import { randomFrom } from '../faults/random.js';
import { writeEntries } from '../harness/chunks.js';
import { type FakeEmbedder, startEmbedder } from '../harness/embedder.js';
import { storedVectorOf, writeVectors } from '../harness/vectors.js';
import { type KnowledgeStage, knowledgeStage, startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const DIMENSIONS = 256;
/** Enough for a user whose rarest words alone are looked at. */
const OTHERS = 3000;
const OWN = 10;
const SEARCHES = 10_000;
const SEARCHES_OF_OTHER = 1000;
const REQUESTS = 300;
const MAX_QUERY_LENGTH = 2000;
const SINCE = '2026-01-01T00:00:00.000Z';

const COMMON = ['river', 'stone', 'server', 'invoice', 'garden', 'winter', 'train', 'letter'];
/** Stands in each text of a user, title, tag and address, and in no query. */
const MARKS = { ada: 'hiddenzulu', bob: 'veiledkilo' };
/** The pieces of queries: words, syntax of several engines, and what is neither. */
const PIECES = [
  ...[
    ...COMMON,
    'rivers',
    'RIVER',
    'rívër',
    'riv',
    'riv*',
    'vehicle',
    'adascanary',
    'adascanary17',
  ],
  ...['bobscanary3', 'canary', '東京都庁', '東京', '猫', 'แมว', 'ネコ', 'ﾈｺ', '京', '日本語の猫'],
  ...['"river stone"', '"東京都"', '“garden letter”', '«winter»', '"', '""', '"river', 'stone"'],
  ...['-river', '-"river stone"', '-東京', '--', '-', '- winter', '-adascanary', '-"'],
  ...[
    'OR',
    'AND',
    'NOT',
    'NEAR(river stone, 5)',
    'NEAR/2',
    '^river',
    'river + stone',
    '*',
    '(',
    ')',
  ],
  ...['{title words} : river', 'title:river', 'words : stone', 'rowid:1', 'owner', ':', '|1|', '1'],
  ...[
    "' OR 1=1 --",
    '; DROP TABLE owners',
    '%',
    '_',
    '\\',
    '\0',
    '\u200b',
    '\u0301',
    '🐈',
    '\ud83d',
  ],
  ...['chunk_words_1', 'json_each', '@owner', '?1', '$owner', '<b>river</b>', '\n', '\t', 'a', 'é'],
];

/** A search, as it is made at random. */
interface FuzzedSearch {
  query: string;
  mode: 'keyword' | 'semantic' | 'hybrid';
  filter: KnowledgeFilter;
  limit: number;
}

describe('random searches', () => {
  let ada: KnowledgeStage;
  let bob: KnowledgeStage;
  let embedder: FakeEmbedder;
  /** The ids of the entries of each. */
  const entries = { ada: [] as string[], bob: [] as string[] };
  const random = randomFrom(23);
  const below = (count: number): number => Math.floor(random() * count);
  const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const words = (count: number): string =>
    Array.from({ length: count }, () => oneOf(COMMON)).join(' ');

  const textOfBob = (n: number): string =>
    `bobscanary${n} ${MARKS.bob} ${COMMON.join(' ')} ${words(9)} automobile 東京都庁の猫`;

  before(async () => {
    ada = await startKnowledge();
    bob = knowledgeStage(ada.app, await ada.app.register('bob'));
    embedder = await startEmbedder('openai-compatible', DIMENSIONS);
    await ada.addModel('nomic', embedder);
    await ada.route('nomic');
    // The first vector of all has the embedder counted as the first.
    entries.ada.push(await ada.keep(`${MARKS.ada} river`));
    entries.bob.push(await bob.keep(textOfBob(0)));
    await ada.embedded();
    const texts = Array.from({ length: OTHERS / 100 }, (_, entry) =>
      Array.from({ length: 100 }, (_, n) => {
        const canary = `adascanary${entry * 100 + n} ${MARKS.ada}`;
        return `${canary} ${words(20)} automobile 東京都庁の猫 ${MARKS.ada}`;
      }),
    );
    const own = Array.from({ length: OWN - 2 }, (_, n) => [textOfBob(n + 2)]);
    await write('ada', texts);
    await write('bob', own);
    entries.bob.push(await bob.keep(textOfBob(1)));
    await ada.keep(`${MARKS.ada} The last text.`);
    await Promise.all([ada.embedded(), bob.embedded()]);
    const { entries: all } = await ada.get('/api/knowledge?limit=200');
    entries.ada = all.map(({ id }: { id: string }) => id);
  });
  after(async () => {
    await ada.stop();
    await embedder.stop();
  });

  const stageOf = (name: keyof typeof entries) => (name === 'ada' ? ada : bob);

  /** Writes entries with vectors, whose titles, tags and addresses have the mark as well. */
  const write = async (name: keyof typeof entries, texts: string[][]): Promise<void> => {
    const { app, user } = stageOf(name);
    const ids = await writeEntries(app, user.id, texts);
    entries[name].push(...ids);
    await writeVectors(app, user.id, { texts, dimensions: DIMENSIONS });
    const mark = MARKS[name];
    const of = [`${mark} river`, JSON.stringify([mark, 'common']), `https://${mark}.example/`];
    await app.app.store.transact([
      {
        sql: `UPDATE knowledge_entries SET title = ?, tags = ?, uri = ?
          WHERE user_id = ? AND id IN (SELECT value FROM json_each(?))`,
        parameters: [...of, user.id, JSON.stringify(ids)],
      },
    ]);
  };

  const query = (): string => {
    const count = below(20) === 0 ? 200 + below(400) : 1 + below(7);
    const glue = below(6) === 0 ? '' : ' ';
    const made = Array.from({ length: count }, () => oneOf(PIECES)).join(glue);
    return made.slice(0, MAX_QUERY_LENGTH);
  };

  const filter = (): KnowledgeFilter => ({
    ...(below(4) === 0 && { sourceType: oneOf([['note'], ['note', 'page'], ['memory']]) }),
    ...(below(4) === 0 && { tags: oneOf([['common'], [MARKS.ada], ["' OR 1 --"]]) }),
    ...(below(4) === 0 && { trust: oneOf(['owner', 'outside']) }),
    ...(below(6) === 0 && { since: SINCE }),
    ...(below(6) === 0 && { until: oneOf([SINCE, '2036-01-01T00:00:00.000Z']) }),
    ...(below(4) === 0 && {
      entryIds: oneOf([entries.ada, entries.bob, [...entries.ada, ...entries.bob]]).slice(0, 200),
    }),
  });

  const search = (): FuzzedSearch => ({
    query: query(),
    mode: oneOf(['keyword', 'semantic', 'hybrid'] as const),
    filter: below(2) === 0 ? {} : filter(),
    limit: oneOf([1, 3, 10, 50]),
  });

  /** Runs a search as a thread of knowledge does. */
  const run = async (
    name: keyof typeof entries,
    { query: text, mode, filter: by, limit }: FuzzedSearch,
  ): Promise<FoundChunk[] | null> => {
    const { app, user } = stageOf(name);
    const vector = storedVectorOf(text, DIMENSIONS);
    const meaning =
      mode === 'keyword' ? null : { embedder: 1, vector, weight: 1, leastLikeness: 0 };
    const byWords = mode !== 'semantic';
    const of = { home: app.home, userId: user.id, query: text, filter: by, limit };
    return (await knowledgeTasks.find({ ...of, meaning, byWords })).results;
  };

  /** Expects that all that a user gets is theirs. */
  const expectOwn = async (name: keyof typeof entries, searches: number): Promise<number> => {
    const theirs = MARKS[name === 'ada' ? 'bob' : 'ada'];
    let found = 0;
    for (let n = 0; n < searches; n++) {
      const made = search();
      if (queryFault(made.query) !== null) continue;
      const results = (await run(name, made)) ?? [];
      found += results.length;
      const others = results.filter(({ entryId }) => !entries[name].includes(entryId));
      const hasMark = JSON.stringify(results).includes(theirs);
      if (others.length > 0 || hasMark || results.length > made.limit) {
        expect(results, JSON.stringify(made)).to.equal([]);
      }
    }
    return found;
  };

  it('find nothing of another user, ten thousand times', async () => {
    expect(await expectOwn('bob', SEARCHES)).to.be.above(SEARCHES);
    expect(await expectOwn('ada', SEARCHES_OF_OTHER)).to.be.above(SEARCHES_OF_OTHER);
  });

  it('find all that fits of one’s own beside much of others', async () => {
    for (const mode of ['keyword', 'semantic', 'hybrid'] as const) {
      for (const text of [...COMMON, ...COMMON.map((word) => `${word} ${oneOf(COMMON)}`), '東京']) {
        if (mode === 'semantic' && text === '東京') continue;
        const results = await run('bob', { query: text, mode, filter: {}, limit: 50 });
        expect(new Set(results?.map(({ entryId }) => entryId)).size, `${mode}: ${text}`).to.equal(
          OWN,
        );
      }
    }
  });

  it('tell nothing of another user in any reply', async () => {
    const statuses = new Set<number>();
    for (let n = 0; n < REQUESTS; n++) {
      const { filter: filters, ...body } = search();
      const reply = await bob.ask('POST', '/api/knowledge/search', { ...body, filters });
      // The embedder makes no vector of a text without a word.
      if (reply.body.code !== 'no_embedder') statuses.add(reply.status);
      const { results = [] } = reply.body;
      expect(reply.text, reply.text).to.not.contain(MARKS.ada);
      for (const { entryId } of results) expect(entries.bob).to.contain(entryId);
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 400)).to.equal([]);
    const { total, chunks, embedding } = await bob.stats();
    expect([total, chunks, embedding.embedded, embedding.pending]).to.equal([OWN, OWN, OWN, 0]);
  });
});
