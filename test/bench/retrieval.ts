import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { startApp, type TestApp, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';

interface CorpusText {
  id: string;
  title?: string;
  text: string;
}

/** A collection of texts, and questions with the texts that answer them, each with its worth. */
interface Collection {
  corpus: CorpusText[];
  queries: CorpusText[];
  relevant: Map<string, Map<string, number>>;
}

/** The figures of one way to search, by their names. */
type RetrievalFigures = Record<string, number | string>;

const DEPTH = 10;
/** The characters of a query. */
const MAX_QUESTION_LENGTH = 2000;
const MODES = ['keyword', 'hybrid', 'semantic'];
/** The search that the mode `keyword` is built on; `hybrid` is built on the other two. */
const PLAIN = 'plain words (FTS5, bm25)';

/**
 * Measures how well the searches of the daemon find what answers the questions of a collection: a
 * folder with `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.
 */
export const measureRetrieval = async (
  folder: string,
): Promise<Record<string, RetrievalFigures>> => {
  const collection = readCollection(folder);
  const app = await startApp({ checkedReplies: 0, config: { builtinEmbedder: true } });
  try {
    const { id, token } = await app.register('bench');
    const entries = await indexCorpus(app, id, collection.corpus);
    await embedCorpus(app, token);
    const figures: Record<string, RetrievalFigures> = {
      [PLAIN]: await figuresOf(collection, plainSearch(collection.corpus)),
    };
    for (const mode of MODES) {
      const search = await searcher(app, { token, mode, entries });
      figures[mode] = search ? await figuresOf(collection, search) : { 'nDCG@10': 'no embedder' };
    }
    return figures;
  } finally {
    await app.stop();
  }
};

const readCollection = (folder: string): Collection => {
  const lines = (name: string): string[] =>
    readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean);
  const relevant: Collection['relevant'] = new Map();
  for (const line of lines('qrels.tsv').slice(1)) {
    const [query = '', document = '', worth = '1'] = line.split('\t');
    relevant.set(query, (relevant.get(query) ?? new Map()).set(document, Number(worth)));
  }
  const parse = (line: string): CorpusText => JSON.parse(line);
  return {
    corpus: lines('corpus.jsonl').map(parse),
    queries: lines('queries.jsonl')
      .map(parse)
      .filter(({ id }) => relevant.has(id)),
    relevant,
  };
};

/** Indexes the texts; returns their ids by the ids of their entries. */
const indexCorpus = async (
  { app }: TestApp,
  userId: string,
  corpus: CorpusText[],
): Promise<Map<string, string>> => {
  const { texts } = inside(app).knowledge;
  const entries = new Map<string, string>();
  let last = '';
  for (const { id, title = '', text } of corpus) {
    const source = { userId, sourceType: 'page' as const, sourceId: id, uri: null, tags: [] };
    const prepared = await texts.prepare({ ...source, title, trust: 'outside', text });
    for await (const steps of prepared.transactions) await app.store.transact(steps);
    entries.set(prepared.id, id);
    last = prepared.id;
  }
  await texts.finish(userId, last);
  return entries;
};

/** Ours: the longest time in which all texts are embedded, in milliseconds. */
const MAX_EMBEDDING_MS = 3_600_000;

/** Waits until all texts have vectors. */
const embedCorpus = (app: TestApp, token: string): Promise<unknown> =>
  until(
    async () => (await app.call('GET', '/api/knowledge/stats', { token })).body.embedding,
    ({ pending }) => pending === 0,
    MAX_EMBEDDING_MS,
  );

/** Searches for the texts that fit a question best; null if the mode cannot be used. */
type SearchTexts = (question: string) => Promise<string[]>;

const searcher = async (
  app: TestApp,
  { token, mode, entries }: { token: string; mode: string; entries: Map<string, string> },
): Promise<SearchTexts | null> => {
  const search = (query: string) =>
    app.call('POST', '/api/knowledge/search', {
      token,
      // Quotes in a question are no syntax.
      body: { query: query.replaceAll('"', ' ').slice(0, MAX_QUESTION_LENGTH), mode, limit: 50 },
    });
  const { status, body } = await search('a question');
  if (status !== 200 || body.mode !== mode) return null;
  return async (question) => {
    const reply = await search(question);
    // A question in a language that the embedder does not know is refused in the mode `semantic`.
    const found: { entryId: string }[] = reply.status === 200 ? reply.body.results : [];
    return [...new Set(found.map(({ entryId }) => entries.get(entryId) ?? ''))];
  };
};

/** Returns a search for any of the words, whole texts by bm25, and nothing more. */
const plainSearch = (corpus: CorpusText[]): SearchTexts => {
  const database = new Database(':memory:');
  database.exec('CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, title, text)');
  const insert = database.prepare('INSERT INTO texts VALUES (?, ?, ?)');
  for (const { id, title = '', text } of corpus) insert.run(id, title, text);
  const find = database
    .prepare<[string, number], string>(
      'SELECT id FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?',
    )
    .pluck();
  return async (question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    return words.length === 0 ? [] : find.all(words.map((word) => `"${word}"`).join(' OR '), DEPTH);
  };
};

const figuresOf = async (
  { queries, relevant }: Collection,
  search: SearchTexts,
): Promise<RetrievalFigures> => {
  let gain = 0;
  let recall = 0;
  const times: number[] = [];
  for (const { id, text } of queries) {
    const since = performance.now();
    const found = (await search(text)).slice(0, DEPTH);
    times.push(performance.now() - since);
    const worths = relevant.get(id) ?? new Map<string, number>();
    const ideal = [...worths.values()].sort((a, b) => b - a).slice(0, DEPTH);
    gain += gainOf(found.map((each) => worths.get(each) ?? 0)) / gainOf(ideal);
    recall += found.filter((each) => (worths.get(each) ?? 0) > 0).length / worths.size;
  }
  const [middle = 0] = times.sort((a, b) => a - b).slice(times.length >> 1);
  const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
  return {
    'nDCG@10': rounded(gain / queries.length),
    'recall@10': rounded(recall / queries.length),
    'p50 ms': Math.round(middle * 10) / 10,
  };
};

/** The discounted cumulative gain of texts in their order. */
const gainOf = (worths: number[]): number =>
  worths.reduce((sum, worth, at) => sum + (2 ** worth - 1) / Math.log2(at + 2), 0);
