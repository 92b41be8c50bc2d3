import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { type Client, createClient } from '../../src/client/client.js';
import { hashOfChunk } from '../../src/knowledge/procedures/hash.js';
import { addHook, type Owner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { startEmbedder, vectorOfWords } from '../harness/embedder.js';
import { SECRET } from './contenders.js';
import { quantile, startGenerator } from './load.js';
import { residentMb } from './memory.js';
import { zipfLanguage } from './zipf.js';

const TEXTS = 400;
const CHUNKS_OF_TEXT = 250;
const SMALL_CHUNKS = 10;
/** The texts that are sent at once. */
const SENDERS = 4;
const QUERIES = 500;
const DIMENSIONS = 256;
/** Connections that pause so long send 50 deliveries a second. */
const DELIVERIES = { connections: 2, pauseMs: 38, count: 100 };
const LOOK_MS = 100;
const MAX_MS = 900_000;
/** The words of the index are merged when it has been at rest for some seconds. */
const MERGED_MS = 20_000;

/** Medians of searches in milliseconds. */
export interface SearchTimes {
  /** From the request to its reply, as a client sees it. */
  request: number;
  /** The search alone, as the reply tells it (`tookMs`). */
  search: number;
}

/** The figures of the knowledge of one owner, beside 50 deliveries a second. */
export interface KnowledgeFigures {
  chunks: number;
  /** Chunks that became searchable, per second, without vectors. */
  perSecond: number;
  /** Medians of searches in milliseconds; `hybrid` with an embedder that answers at once. */
  threeWords: SearchTimes;
  twelveWords: SearchTimes;
  hybrid: SearchTimes;
  /** The same of a user with few chunks. */
  fewChunks: SearchTimes;
  /** The 99th percentile of the replies to deliveries, in milliseconds. */
  p99Indexing: number;
  p99Searching: number;
  /** The most memory of the daemon, without its children. */
  indexingMb: number;
  searchingMb: number;
}

/** Measures the indexing of 100,000 chunks of one owner, and then searches, beside deliveries. */
export const measureKnowledge = async (): Promise<KnowledgeFigures> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const language = zipfLanguage(7);
  const texts = Array.from({ length: TEXTS }, () => language.text(CHUNKS_OF_TEXT));
  let daemon = await startDaemon({ home });
  const embedder = await startEmbedder('openai-compatible', DIMENSIONS);
  try {
    const owner = await registerOwner(daemon.url);
    await addHook(owner, HOOK);
    const indexed = await besideDeliveries(daemon, () => indexAll(owner, texts));
    const { chunks } = await owner.knowledge.stats();
    await daemon.end('SIGTERM');
    writeVectors(join(home, 'adjutant.db'));
    daemon = await startDaemon({ home });
    const again = owner.with({ url: daemon.url });
    const small = await ownerOfFew(daemon.url, language.text(SMALL_CHUNKS));
    await embedWith(again, embedder.baseUrl);
    await pause(MERGED_MS);
    const searched = await besideDeliveries(daemon, () => searchAll(again, small, language.query));
    return {
      chunks,
      perSecond: (1000 * chunks) / indexed.tookMs,
      ...searched.result,
      p99Indexing: indexed.p99,
      p99Searching: searched.p99,
      indexingMb: indexed.mostMb,
      searchingMb: searched.mostMb,
    };
  } finally {
    await daemon.end('SIGKILL');
    await embedder.stop();
    await rm(home, { recursive: true, force: true });
  }
};

const HOOK = {
  ...{ name: 'bench', path: 'bench', secret: SECRET, action: 'notify' as const },
  actionConfig: { notifyMessage: '{{webhook.body.action}}' },
};

/** Does work while deliveries come in, and the memory of the daemon is looked at. */
const besideDeliveries = async <T>(
  { url, pid }: Daemon,
  work: () => Promise<T>,
): Promise<{ result: T; tookMs: number; p99: number; mostMb: number }> => {
  const generator = startGenerator();
  const times: number[] = [];
  let mostMb = 0;
  const look = setInterval(async () => {
    mostMb = Math.max(mostMb, await residentMb(pid));
  }, LOOK_MS);
  let isDone = false;
  const deliver = async (): Promise<void> => {
    const load = { kind: 'deliveries' as const, url, path: '/api/webhooks/bench', secret: SECRET };
    for (let round = 0; !isDone; round++) {
      const seed = `${pid}-${round}`;
      const measured = await generator.run({ ...load, ...DELIVERIES, seed, keepsTimes: true });
      times.push(...(measured.tookMs ?? []));
    }
  };
  const delivered = deliver();
  const since = performance.now();
  const result = await work().finally(() => {
    isDone = true;
    clearInterval(look);
  });
  const tookMs = performance.now() - since;
  await delivered;
  generator.close();
  times.sort((a, b) => a - b);
  return { result, tookMs, p99: quantile(times, 0.99), mostMb };
};

/** Sends texts, several at once, until all can be searched. */
const indexAll = async (owner: Owner, texts: string[]): Promise<void> => {
  const left = texts.entries();
  const send = async (): Promise<void> => {
    for (const [at, text] of left) await indexOne(owner, { text, title: `Text ${at}` });
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
};

const indexOne = async (
  { knowledge, operations }: Client,
  body: { text: string; title: string },
): Promise<void> => {
  const { id } = await knowledge.index({ body });
  const { status } = await until(
    () => operations.get({ id }),
    (operation) => operation.status !== 'queued' && operation.status !== 'running',
    MAX_MS,
  );
  if (status !== 'completed') throw new Error(`The indexing of ${body.title} ended as ${status}`);
};

/** Writes the vectors that the embedder would make, which would take it minutes. */
const writeVectors = (file: string): void => {
  const db = new Database(file);
  db.pragma('synchronous = OFF');
  const insert = db.prepare('INSERT OR IGNORE INTO knowledge_vectors VALUES (?, ?, 1, ?)');
  const chunks = db.prepare<[], { user_id: string; heading: string | null; text: string }>(
    'SELECT user_id, heading, text FROM knowledge_chunks',
  );
  const rows = chunks.all().map((chunk) => [chunk.user_id, hashOfChunk(chunk), vectorOf(chunk)]);
  db.transaction(() => {
    for (const row of rows) insert.run(...row);
  })();
  db.close();
};

const vectorOf = ({ text }: { text: string }): Buffer => {
  const vector = vectorOfWords(text, DIMENSIONS);
  const most = Math.max(...vector);
  return Buffer.from(Int8Array.from(vector, (each) => Math.round((each / most) * 127)).buffer);
};

const ownerOfFew = async (url: string, text: string): Promise<Client> => {
  const client = createClient({ url });
  const body = { username: 'second', password: 'correct horse battery' };
  const second = client.with({ token: (await client.auth.register({ body })).token });
  await indexOne(second, { text, title: 'Few' });
  return second;
};

const embedWith = async (owner: Owner, baseUrl: string): Promise<void> => {
  const model = { name: 'bench', provider: 'openai-compatible' as const, modelId: 'fake', baseUrl };
  await owner.models.create({ body: { ...model, embedding: { dimensions: DIMENSIONS } } });
  const topics = [{ topic: 'embeddings', primary: 'bench' }];
  await owner.models['set-routing']({ body: { topics, confirm: true } });
  await until(
    () => owner.knowledge.stats(),
    ({ embedding }) => embedding.model !== null && embedding.pending === 0,
    MAX_MS,
  );
};

type Searches = Pick<KnowledgeFigures, 'threeWords' | 'twelveWords' | 'hybrid' | 'fewChunks'>;

const searchAll = async (
  owner: Client,
  small: Client,
  query: (words: number) => string,
): Promise<Searches> => {
  // The first ones load the code and the pages of the index.
  await medianOf(owner, 'keyword', () => query(3));
  return {
    threeWords: await medianOf(owner, 'keyword', () => query(3)),
    twelveWords: await medianOf(owner, 'keyword', () => query(12)),
    hybrid: await medianOf(owner, 'hybrid', () => query(3)),
    fewChunks: await medianOf(small, 'hybrid', () => query(3)),
  };
};

const medianOf = async (
  { knowledge }: Client,
  mode: 'keyword' | 'hybrid',
  next: () => string,
): Promise<SearchTimes> => {
  const requests: number[] = [];
  const searches: number[] = [];
  for (let n = 0; n < QUERIES; n++) {
    const body = { query: next(), mode };
    const since = performance.now();
    const reply = await knowledge.search({ body });
    requests.push(performance.now() - since);
    searches.push(reply.tookMs);
    if (reply.mode !== mode) throw new Error(`${mode} became ${reply.mode}: ${reply.degraded}`);
  }
  return { request: medianIn(requests), search: medianIn(searches) };
};

const medianIn = (times: number[]): number =>
  quantile(
    times.sort((a, b) => a - b),
    0.5,
  );
