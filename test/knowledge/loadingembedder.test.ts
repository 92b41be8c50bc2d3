import { once } from 'node:events';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { orAborted } from '../../src/kernel/gate.js';
import type { Embedder } from '../../src/knowledge/embedders/embedder.js';
import { openEmbedders } from '../../src/knowledge/embedders/registry.js';
import { startApp } from '../harness/app.js';
import { frozenClock } from '../harness/clock.js';
import { openForSuite } from '../harness/suite.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('an embedding model that takes long to load', () => {
  const app = openForSuite(lab, startApp);

  it('goes on loading after the first search, and is then used', async () => {
    const clock = frozenClock();
    const load = new AbortController();
    const loaded = once(load.signal, 'abort');
    let waiting = 0;
    const embedder: Embedder = {
      ...{ key: 'emb', name: 'emb', dimensions: 2, weight: 0.5, isEnglish: false },
      ...{ leastLikeness: 0, atOnce: 1, queryMs: 2000, isQueued: true },
      embed: async (texts, { signal }) => {
        waiting += 1;
        await orAborted(loaded, signal).finally(() => {
          waiting -= 1;
        });
        return texts.map(() => [1, 2]);
      },
    };
    const embedders = openEmbedders({
      ...{ store: app.app.store, clock, comparesVectors: true, isBuiltinOn: false },
      builtin: { embedder: null, close: async () => undefined },
    });
    embedders.use({ routed: () => embedder, withKey: () => null });
    const first = embedders.queryVector(embedder, 'ada', 'vehicle');
    clock.forward(2000);
    const reason = 'emb is loading or busy and did not process this query within 2 s';
    expect(await first).to.include({ reason });
    expect(waiting).to.equal(1);
    const report = embedders.report('ada');
    clock.forward(2000);
    expect(await report).to.equal({ isWell: true, detail: reason });
    expect(waiting).to.equal(1);
    load.abort();
    expect(await embedders.queryVector(embedder, 'ada', 'vehicle')).to.include(['vector']);
    expect(await embedders.report('ada')).to.equal({ isWell: true, detail: 'emb' });
  });
});
