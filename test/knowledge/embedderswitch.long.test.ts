import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { type FakeEmbedder, startEmbedder } from '../harness/embedder.js';
import { type KnowledgeStage, knowledgeStage, startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const CAR = 'The automobile stands in the yard behind the house.';

describe('another embedder', () => {
  let stage: KnowledgeStage;
  let first: FakeEmbedder;
  let second: FakeEmbedder;
  let car: string;
  before(async () => {
    stage = await startKnowledge();
    first = await startEmbedder('openai-compatible');
    second = await startEmbedder('ollama', 64);
    await stage.addModel('first', first);
    await stage.addModel('second', second, { embedding: { dimensions: 64 } });
    await stage.addModel('words', first, { embedding: null });
    await stage.route('first');
    car = await stage.keep(CAR);
    await stage.embedded();
  });
  after(async () => {
    await stage.stop();
    await first.stop();
    await second.stop();
  });

  it('embeds all texts again, and until then searches go on with the one before', async () => {
    second.become('hangs');
    await stage.route('second');
    const found = await stage.search('vehicle', { mode: 'semantic' });
    expect([found.mode, found.results[0].entryId]).to.equal(['semantic', car]);
    expect(first.asked.at(-1)?.body.input).to.equal(['vehicle']);
    const { embedding, modes } = await stage.stats();
    expect(embedding).to.equal({ model: 'second', dimensions: 64, embedded: 0, pending: 1 });
    expect([modes.semantic, modes.reason]).to.equal([
      true,
      'second is loading or busy and did not process this query within 2 s. Searches use first until second has created all vectors',
    ]);
    expect((await stage.get(`/api/knowledge/${car}`)).embeddedWith).to.equal('first');
    const later = await stage.keep('The physician lives next door.');
    expect((await stage.get(`/api/knowledge/${later}`)).embeddedWith).to.be.null();
    second.become('works');
    await stage.embedded();
    const { operations } = await stage.get('/api/operations?kind=knowledge.embed');
    await until(
      () => stage.get(`/api/operations/${operations[0].id}`),
      ({ status }) => status === 'completed',
    );
    expect((await stage.get(`/api/knowledge/${car}`)).embeddedWith).to.equal('second');
    expect((await stage.get(`/api/knowledge/${later}`)).embeddedWith).to.equal('second');
    const asked = first.asked.length;
    expect(await stage.find('another vehicle', { mode: 'semantic', limit: 1 })).to.equal([car]);
    expect(first.asked).to.have.length(asked);
    const { db } = stage.app.app.store;
    const left = await db.selectFrom('knowledge_vectors').select('embedder').distinct().execute();
    expect(left).to.have.length(1);
  });

  it('leaves none of its vectors if it was in force for a moment only', async () => {
    const { db } = stage.app.app.store;
    const embedders = async () =>
      (await db.selectFrom('knowledge_vectors').select('embedder').distinct().execute()).length;
    const row = await db.selectFrom('knowledge_vectors').selectAll().executeTakeFirstOrThrow();
    await db
      .insertInto('knowledge_vectors')
      .values({ ...row, embedder: 99 })
      .execute();
    expect(await embedders()).to.equal(2);
    await stage.keep('A note for the way back.');
    await stage.embedded();
    await until(embedders, (count) => count === 1);
  });

  it('is refused where it makes no vectors, with others beside it, or by its topics', async () => {
    const put = (route: object) =>
      stage.ask('PUT', '/api/models/routing', {
        topics: [{ topic: 'embeddings', ...route }],
        confirm: true,
      });
    for (const [route, path] of [
      [{ primary: 'words' }, 'topics.0.primary'],
      [{ primary: 'digest' }, 'topics.0.primary'],
      [{ primary: 'first', fallbacks: ['second'] }, 'topics.0.fallbacks'],
    ] as const) {
      const { status, body } = await put(route);
      expect([status, body.details[0].path]).to.equal([400, path]);
    }
    const topics = { topics: ['embeddings'] };
    const byTopic = await stage.ask('PATCH', '/api/models/first', topics);
    expect([byTopic.status, byTopic.body.details[0].path]).to.equal([400, 'topics.0']);
    const added = await stage.addModel('third', first, topics);
    expect([added.status, added.body.details[0].path]).to.equal([400, 'topics.0']);
    const nameless = await stage.addModel('fourth', first, { embedding: { weight: 1 } });
    expect([nameless.status, nameless.body.details[0].path]).to.equal([
      400,
      'embedding.dimensions',
    ]);
    const claude = { provider: 'anthropic', baseUrl: null };
    const other = await stage.addModel('fifth', first, claude);
    expect([other.status, other.body.details[0].path]).to.equal([400, 'embedding']);
  });

  it('is not made of the one in force by a change, but its weight may change', async () => {
    const patch = (body: object) => stage.ask('PATCH', '/api/models/second', body);
    for (const body of [
      { modelId: 'x' },
      { embedding: { queryPrefix: 'x' } },
      { embedding: null },
    ]) {
      const refused = await patch(body);
      expect([refused.status, refused.body.code]).to.equal([409, 'embedder_in_use']);
    }
    const { body } = await patch({ embedding: { dimensions: 32 } });
    expect(body.message).to.equal(
      'second is the active embedding model, so embedding cannot be changed. Route embeddings to another model first, or return to the built-in embedder: adjutant models routing remove embeddings',
    );
    const changed = await patch({ embedding: { weight: 0.9 } });
    expect(changed.body.embedding).to.include({ weight: 0.9, dimensions: 64 });
  });

  it('answers no prompts', async () => {
    expect((await stage.get('/api/models/routing')).default).to.equal('words');
  });

  it('is none while it is disabled', async () => {
    await stage.ask('PATCH', '/api/models/second', { enabled: false });
    const { degraded } = await stage.search('vehicle');
    expect(degraded).to.equal('The embedder second is disabled. Only keyword search was used');
    await stage.ask('PATCH', '/api/models/second', { enabled: true });
    expect((await stage.search('vehicle')).mode).to.equal('hybrid');
  });
});

describe('the cost of vectors', () => {
  let stage: KnowledgeStage;
  let bob: KnowledgeStage;
  let embedder: FakeEmbedder;
  before(async () => {
    stage = await startKnowledge();
    const { id, token } = await stage.app.register('bob');
    bob = knowledgeStage(stage.app, { id, token });
    embedder = await startEmbedder('openai-compatible');
    await stage.addModel('dear', embedder, { price: { inputPerMTok: 1000, outputPerMTok: 0 } });
  });
  after(async () => {
    await stage.stop();
    await embedder.stop();
  });

  it('is told before, counts on the owner, and waits at the limit of their day', async () => {
    const limit = (dailyCostUsd: number) =>
      stage.ask('PATCH', `/api/admin/users/${bob.user.id}`, { limits: { dailyCostUsd } });
    expect((await limit(0.001)).status).to.equal(200);
    await bob.keep(CAR);
    const refused = await stage.route('dear', false);
    expect(refused.body.message).to.match(/about 1\d tokens, about 0\.01\d* USD/);
    await stage.route('dear');
    const [operation] = await until(
      async () => (await bob.get('/api/operations?kind=knowledge.embed')).operations,
      ([first]) => /daily limit/.test(first?.progress?.note ?? ''),
    );
    expect(operation.status).to.equal('running');
    expect(embedder.asked).to.equal([]);
    const asked = await bob.search('automobile');
    expect(asked.degraded).to.contain('daily limit');
    await limit(10);
    await bob.embedded();
    const usage = async (of: KnowledgeStage) => (await of.get('/api/models/usage')).usage;
    const [spent] = await usage(bob);
    expect([spent.key, spent.inputTokens >= 9, spent.costUsd > 0]).to.equal(['dear', true, true]);
    expect(await usage(stage)).to.equal([]);
  });
});
