import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Embedders } from '../../src/knowledge/embedders/registry.js';
import { embedOperation } from '../../src/knowledge/embedoperation.js';
import { embedStore } from '../../src/knowledge/embedqueries.js';
import { createEmbedQueue } from '../../src/knowledge/embedqueue.js';
import { until } from '../harness/app.js';
import { openForSuite } from '../harness/suite.js';
import { startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** An embedder for which all texts mean the same. */
const fake = {
  key: 'fake',
  name: 'fake',
  dimensions: 2,
  weight: 1,
  isEnglish: false,
  leastLikeness: 0,
  atOnce: 8,
  queryMs: 1000,
  isQueued: false,
  embed: async (texts: string[]) => texts.map(() => [1, 1]),
};
const embedders = {
  inForce: () => fake,
  whyNone: () => '',
  idOf: async () => 7,
  embed: (_: unknown, texts: string[]) => fake.embed(texts),
  change: async () => undefined,
} as unknown as Embedders;

describe('an entry that the index does not find by its vectors', () => {
  const stage = openForSuite(lab, startKnowledge);

  it('is told, and the others go on', async () => {
    const { store } = stage.app.app;
    const lost = await stage.keep('The automobile stands in the yard.');
    const found = await stage.keep('Boil the noodles for nine minutes.');
    const index = {
      changed: () => undefined,
      settled: async () => undefined,
      nearest: async ({ entryId }: { entryId: string }) => entryId !== lost,
    };
    const { run } = embedOperation({
      embedders,
      vectors: embedStore(store),
      index,
      turns: createEmbedQueue(),
    });
    const end = await run({
      id: 'operation',
      userId: stage.user.id,
      input: {},
      checkpoint: null,
      commit: async (steps) => void (steps.length > 0 && (await store.transact(steps))),
      refuseForbidden: async () => undefined,
      progress: () => undefined,
      signal: new AbortController().signal,
    } as Parameters<typeof run>[0]);
    expect(end).to.equal({
      status: 'failed',
      error: `Vector search does not find 1 entries: ${lost}`,
    });
    const { embeddedWith } = await until(
      () => stage.get(`/api/knowledge/${found}`),
      (entry) => entry.embeddedWith !== null,
    );
    expect(embeddedWith).to.equal('fake');
    expect((await stage.get(`/api/knowledge/${lost}`)).embeddedWith).to.be.null();
  });
});
