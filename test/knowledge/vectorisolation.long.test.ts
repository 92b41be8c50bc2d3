import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { writeEntries } from '../harness/chunks.js';
import { type FakeEmbedder, startEmbedder } from '../harness/embedder.js';
import { writeVectors } from '../harness/vectors.js';
import { type KnowledgeStage, knowledgeStage, startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** More than those of which all vectors are compared. */
const OTHERS = 26_000;
const OWN = 10;
const DIMENSIONS = 256;

/** Many vectors of others with the same direction beside a few of one's own. */
describe('the vectors of others', () => {
  let ada: KnowledgeStage;
  let bob: KnowledgeStage;
  let embedder: FakeEmbedder;
  before(async () => {
    ada = await startKnowledge();
    const { id, token } = await ada.app.register('bob');
    bob = knowledgeStage(ada.app, { id, token });
    embedder = await startEmbedder('openai-compatible');
    await ada.addModel('nomic', embedder);
    await ada.route('nomic');
    // The first vector of all has the embedder counted as the first.
    await ada.keep('The first text.');
    await ada.embedded();
    const others = Array.from({ length: OTHERS / 500 }, (_, entry) =>
      Array.from({ length: 500 }, (_, n) => `adascanary${entry * 500 + n} automobile`),
    );
    await writeEntries(ada.app, ada.user.id, others);
    await writeVectors(ada.app, ada.user.id, { texts: others, dimensions: DIMENSIONS });
    await ada.keep('The last text.');
    for (let n = 0; n < OWN; n++) await bob.keep(`bobscanary${n} automobile in the yard`);
    await bob.embedded();
    await ada.embedded();
  });
  after(async () => {
    await ada.stop();
    await embedder.stop();
  });

  it('keep none of one’s own out of the results', async () => {
    for (const mode of ['semantic', 'hybrid']) {
      const found = await bob.search('vehicle', { mode, limit: 50 });
      expect([found.mode, found.results.length]).to.equal([mode, OWN]);
      expect(JSON.stringify(found)).to.not.contain('adascanary');
    }
    expect(await ada.find('vehicle', { mode: 'semantic', limit: 50 })).to.have.length(50);
  });

  it('are not reached by their ids', async () => {
    const [theirs] = await ada.find('vehicle', { mode: 'semantic' });
    const filters = { entryIds: [theirs] };
    expect(await bob.find('vehicle', { mode: 'semantic', filters })).to.equal([]);
  });

  it('are narrowed by filters before they are compared', async () => {
    const since = '2026-02-01T00:00:00.000Z';
    const found = await ada.search('first text', { mode: 'semantic', filters: { since } });
    expect(found.results).to.have.length(2);
  });
});
