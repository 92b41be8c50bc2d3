import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { type FakeEmbedder, startEmbedder } from '../harness/embedder.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const KILLS = 3;
const ENTRIES = 8;
const PARTS = 20;
/** The texts of one call. */
const BATCH = 32;

describe('embedding', () => {
  let home: string;
  let daemon: Daemon;
  let embedder: FakeEmbedder;
  let token: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    daemon = await startDaemon({ home });
    embedder = await startEmbedder('openai-compatible');
    const client = createClient({ url: daemon.url });
    ({ token } = await client.auth.register({ body: { username: 'ada', password: PASSWORD } }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await embedder.stop();
    await rm(home, { recursive: true, force: true });
  });

  const client = () => createClient({ url: daemon.url, token });
  const textOf = (entry: number): string =>
    Array.from(
      { length: PARTS },
      (_, part) => `## Part ${part}\n\n${`canary${entry}x${part} stands here. `.repeat(70)}`,
    ).join('\n\n');

  it('goes on where it was when it is killed', async () => {
    const { provider, baseUrl } = embedder;
    const embedding = { dimensions: 256 };
    const model = { name: 'nomic', provider, modelId: 'fake-embed', baseUrl, embedding };
    await client().models.create({ body: model });
    for (let entry = 0; entry < ENTRIES; entry++) {
      await client().knowledge.index({ body: { text: textOf(entry), title: `Entry ${entry}` } });
    }
    const stats = () => client().knowledge.stats();
    await until(stats, ({ total }) => total === ENTRIES);
    embedder.become('works', 300);
    const topics = [{ topic: 'embeddings', primary: 'nomic' }];
    await client().models['set-routing']({ body: { topics, confirm: true } });
    for (let kill = 0; kill < KILLS; kill++) {
      const before = embedder.asked.length;
      await until(
        async () => embedder.asked.length,
        (count) => count > before,
        30_000,
      );
      await daemon.end('SIGKILL');
      daemon = await startDaemon({ home });
    }
    embedder.become('works');
    const { embedding: counts, chunks } = await until(
      stats,
      ({ embedding: { pending } }) => pending === 0,
      60_000,
    );
    expect(counts.embedded).to.equal(chunks);
    // A batch that was under way is done again; the others are not.
    const texts = embedder.texts().filter((text) => text.includes('canary')).length;
    expect([texts >= chunks, texts <= chunks + KILLS * BATCH]).to.equal([true, true]);
    const index = new Database(join(home, 'search.db'), { readonly: true });
    expect(index.prepare('SELECT count(*) FROM vectors_1').pluck().get()).to.equal(chunks);
    index.close();
    const body = { query: 'a canary', mode: 'semantic' as const, limit: 50 };
    const { results } = await client().knowledge.search({ body });
    expect(results).to.have.length(50);
  });
});
