import { join } from 'node:path';
import { expect } from '@hapi/code';
import Database from 'better-sqlite3';
import { until } from '../../harness/app.js';
import { startEmbedder } from '../../harness/embedder.js';
import { atCrashPoints, type Family, query, type Scene } from './crashpoints.js';

const CHUNKS = 2;
const EMBED = 'request POST /v1/embeddings';

/** A text of some chunks, all with the word. */
const textOf = (word: string): string =>
  Array.from(
    { length: CHUNKS },
    (_, at) => `## Part ${at}\n\n${`${word} is in part ${at}. `.repeat(40)}`,
  ).join('\n\n');

/** The vectors follow once the entry can be searched. */
const embedded = async ({ owner, settled }: Scene): Promise<void> => {
  await settled();
  await until(
    () => owner.knowledge.stats(),
    ({ embedding }) => embedding.pending === 0,
  );
  await settled();
};

const counted = (home: string, table: string): unknown => {
  const index = new Database(join(home, 'search.db'), { readonly: true });
  try {
    return index.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  } finally {
    index.close();
  }
};

export const knowledgeCrashes: Family = ({ describe, it }, points) => {
  describe('a text of the knowledge, with kills after its changes', () => {
    it('is not lost once acknowledged, and is indexed and embedded once', async () => {
      const embedder = await startEmbedder('openai-compatible');
      /** Rounds whose chunks were sent to the embedder twice. */
      const repeated: number[] = [];
      const changes = await atCrashPoints(points, {
        prepare: async (scene) => {
          const { knowledge, models } = scene.owner;
          const { provider, baseUrl } = embedder;
          const embedding = { dimensions: 256 };
          const model = { name: 'nomic', provider, modelId: 'fake-embed', baseUrl, embedding };
          await models.create({ body: model });
          const topics = [{ topic: 'embeddings' as const, primary: 'nomic' }];
          await models['set-routing']({ body: { topics, confirm: true } });
          await knowledge.index({ body: { text: textOf('first'), title: 'first' } });
          await embedded(scene);
        },
        round: (n) => {
          const word = `canary${n}`;
          let acknowledged: string | undefined;
          return {
            run: async (scene) => {
              const body = { text: textOf(word), title: word };
              acknowledged = (await scene.owner.knowledge.index({ body })).id;
              await embedded(scene);
            },
            verify: async (scene) => {
              const { owner, home } = scene;
              await embedded(scene);
              const { entries } = await owner.knowledge.list({ query: { q: word } });
              expect(entries.length).to.be.at.most(1);
              if (acknowledged) {
                const { status } = await owner.operations.get({ id: acknowledged });
                expect([status, entries.length]).to.equal(['completed', 1]);
              }
              const states = entries.map(({ status, chunks }) => [status, chunks]);
              expect(states).to.equal(entries.map(() => ['ready', CHUNKS]));
              const body = { query: word, mode: 'keyword' as const, limit: 50 };
              const { results } = await owner.knowledge.search({ body });
              expect(results.length).to.equal(entries.length * CHUNKS);
              const { chunks, embedding } = await owner.knowledge.stats();
              expect(embedding).to.include({ embedded: chunks, pending: 0 });
              expect([counted(home, 'chunks'), counted(home, 'vectors_1')]).to.equal([
                chunks,
                chunks,
              ]);
              const asked = embedder.texts().filter((text) => text.includes(`${word} `)).length;
              expect(asked / CHUNKS).to.be.within(entries.length, 2 * entries.length);
              if (asked > CHUNKS) repeated.push(n);
              expect(query(home, 'SELECT count(*) FROM knowledge_changes')).to.equal([1]);
            },
          };
        },
      }).finally(embedder.stop);
      expect(changes).to.include(['reply POST /api/knowledge/index', EMBED]);
      // Vectors are created again only if the kill came before they were stored.
      expect(repeated.length).to.be.at.most(4);
      expect(changes.filter((change) => change === 'commit').length).to.be.at.least(8);
    });
  });
};
