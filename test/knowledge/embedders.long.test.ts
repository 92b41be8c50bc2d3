import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until, untilAtLeast } from '../harness/app.js';
import { type FakeEmbedder, startEmbedder } from '../harness/embedder.js';
import { type KnowledgeStage, knowledgeStage, startKnowledge } from './stage.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const CAR = 'The automobile stands in the yard behind the house.';
const FOOD = 'Boil the noodles for nine minutes.';

for (const dialect of ['openai-compatible', 'ollama'] as const) {
  describe(`an embedder that speaks as ${dialect}`, () => {
    let stage: KnowledgeStage;
    let embedder: FakeEmbedder;
    let car: string;
    before(async () => {
      stage = await startKnowledge();
      embedder = await startEmbedder(dialect);
      car = await stage.keep(CAR);
      await stage.keep(FOOD);
    });
    after(async () => {
      await stage.stop();
      await embedder.stop();
    });

    it('is put in force only if that is confirmed, and makes the vectors of all texts', async () => {
      const embedding = { dimensions: 256, queryPrefix: 'query: ', documentPrefix: 'text: ' };
      const more = { apiKey: 'sk-embed-1234567', embedding };
      const { status, body, text } = await stage.addModel('nomic', embedder, more);
      expect(status, text).to.equal(201);
      const preset = { maxInputTokens: 512, weight: 0.5 };
      expect([body.embedding, body.supports.embeddings]).to.equal([
        { ...embedding, ...preset },
        true,
      ]);
      const refused = await stage.route('nomic', false);
      expect([refused.status, refused.body.code]).to.equal([409, 'confirm_needed']);
      expect(refused.body.message).to.contain(embedder.baseUrl);
      expect(refused.body.message).to.contain('2 chunks of 1 users');
      expect(embedder.asked).to.equal([]);
      expect((await stage.route('nomic')).status).to.equal(200);
      const { embedding: counts, modes } = await stage.embedded();
      expect(counts).to.equal({ model: 'nomic', dimensions: 256, embedded: 2, pending: 0 });
      expect(modes).to.equal({ keyword: true, semantic: true, hybrid: true, reason: null });
      expect((await stage.get(`/api/knowledge/${car}`)).embeddedWith).to.equal('nomic');
      expect(embedder.texts()).to.include([`text: ${CAR}`, `text: ${FOOD}`]);
      const [first] = embedder.asked;
      expect(first?.headers.authorization).to.equal('Bearer sk-embed-1234567');
      expect(first?.body.model).to.equal('fake-embed');
    });

    it('finds by meaning what has none of the words, and keeps the vectors of queries', async () => {
      const since = embedder.asked.length;
      expect(await stage.find('vehicle', { mode: 'keyword' })).to.equal([]);
      const found = await stage.search('vehicle');
      expect([found.mode, found.degraded]).to.equal(['hybrid', null]);
      expect(found.results[0]).to.include({ entryId: car, matched: ['meaning'] });
      await stage.search('vehicle', { mode: 'semantic' });
      expect(embedder.asked.slice(since).map(({ body }) => body.input)).to.equal([
        ['query: vehicle'],
      ]);
    });

    it('is not given a text again that it was given', async () => {
      const since = embedder.texts().length;
      const again = await stage.keep(CAR);
      await stage.embedded();
      expect((await stage.get(`/api/knowledge/${again}`)).embeddedWith).to.equal('nomic');
      expect(embedder.texts().slice(since)).to.equal([]);
      expect(await stage.find('vehicle', { mode: 'semantic', limit: 2 })).to.only.include([
        car,
        again,
      ]);
      await stage.ask('DELETE', `/api/knowledge/${again}`);
    });

    it('is counted on the day of the owner', async () => {
      const { body } = await stage.ask('GET', '/api/models/usage');
      expect(body.usage[0].key).to.equal('nomic');
      expect(body.usage[0].inputTokens > 10).to.be.true();
    });

    it('is tested by a vector', async () => {
      const { body } = await stage.ask('POST', '/api/models/nomic/test');
      expect(body).to.include({ ok: true, reply: '256 dimensions' });
    });
  });
}

describe('an embedder that fails', () => {
  let stage: KnowledgeStage;
  let embedder: FakeEmbedder;
  before(async () => {
    stage = await startKnowledge({ config: { registration: 'open' } });
    embedder = await startEmbedder('openai-compatible');
    await stage.addModel('nomic', embedder);
    await stage.route('nomic');
    await stage.keep(CAR);
    await stage.embedded();
  });
  after(async () => {
    await stage.stop();
    await embedder.stop();
  });
  beforeEach(() => embedder.become('works'));

  it('is named while texts are taken and found by words', async () => {
    embedder.become('hangs');
    const found = await stage.search('automobile');
    const why = 'nomic did not answer within 2 s';
    expect([found.mode, found.degraded]).to.equal([
      'keyword',
      `${why}. Only keyword search was used`,
    ]);
    expect(found.results).to.have.length(1);
    const refused = await stage.ask('POST', '/api/knowledge/search', {
      query: 'another vehicle',
      mode: 'semantic',
    });
    expect([refused.status, refused.body.code]).to.equal([503, 'no_embedder']);
    expect(refused.body.message).to.contain(why);
    const id = await stage.keep('A note that is written meanwhile.');
    const { modes, embedding } = await stage.stats();
    expect([modes.semantic, modes.hybrid, embedding.pending]).to.equal([false, false, 1]);
    expect(modes.reason).to.contain(why);
    expect((await stage.get(`/api/knowledge/${id}`)).embeddedWith).to.be.null();
    const { findings } = await stage.get('/api/admin/doctor');
    const finding = findings.find(({ name }: { name: string }) => name === 'embedder');
    expect(finding.status).to.equal('warn');
    expect(finding.detail).to.contain(why);
    embedder.become('works');
    await stage.embedded();
    expect((await stage.get(`/api/knowledge/${id}`)).embeddedWith).to.equal('nomic');
  });

  it('is asked again until it answers', async () => {
    embedder.become('fails');
    await stage.keep('Another note about the orchard.');
    const operation = await until(
      async () => (await stage.get('/api/operations?kind=knowledge.embed')).operations[0],
      ({ progress }) => /^Waiting: nomic answered 500/.test(progress?.note ?? ''),
    );
    expect(operation.status).to.equal('running');
    embedder.become('works');
    await stage.embedded();
  });

  it('has no operation where there is nothing to make a vector of', async () => {
    const list = async () => (await stage.get('/api/operations?kind=knowledge.embed')).operations;
    const ended = () =>
      until(list, (all) =>
        all.every(({ status }: { status: string }) => status !== 'running' && status !== 'queued'),
      );
    const before = (await ended()).length;
    await stage.keep('\0');
    await ended();
    await stage.keep('The orchard has a wall.');
    await stage.embedded();
    const added = (await ended()).slice(0, -before);
    expect(added.map(({ result }: { result: { chunks: number } }) => result.chunks)).to.equal([1]);
  });

  it('leaves a text without a vector that it refuses', async () => {
    embedder.become({ refuses: 'unspeakable' });
    const bad = await stage.keep('This is unspeakable.');
    const good = await stage.keep('This can be said.');
    await stage.embedded();
    expect((await stage.get(`/api/knowledge/${bad}`)).embeddedWith).to.be.null();
    expect((await stage.get(`/api/knowledge/${good}`)).embeddedWith).to.equal('nomic');
  });

  it('fails at one text alone: that has no vector, and nobody else is the worse for it', async () => {
    const { id, token } = await stage.app.register('bob');
    const bob = knowledgeStage(stage.app, { id, token });
    await bob.keep(FOOD);
    await bob.embedded();
    embedder.become({ failsAt: 'poison' });
    const bad = await bob.keep('This is poison for it.');
    const good = await bob.keep('This is none.');
    const refused = await bob.search('poison');
    expect(refused.degraded).to.equal('nomic answered 500. Only keyword search was used');
    for (let n = 0; n < 20; n++) {
      expect((await stage.search(`automobile ${n}`)).mode).to.equal('hybrid');
    }
    await bob.embedded();
    expect((await bob.get(`/api/knowledge/${bad}`)).embeddedWith).to.be.null();
    expect((await bob.get(`/api/knowledge/${good}`)).embeddedWith).to.equal('nomic');
    embedder.become({ hangsAt: 'poison' });
    expect((await bob.search('poison again')).degraded).to.contain('did not answer within 2 s');
    expect((await stage.search('automobile and orchard')).mode).to.equal('hybrid');
  });

  it('makes no vector of zeros: such a text has none, and the others are found', async () => {
    const zeros = await stage.keep('12345 67890 11121 31415');
    const doctor = await stage.keep('The physician lives next door.');
    await stage.embedded();
    expect((await stage.get(`/api/knowledge/${zeros}`)).embeddedWith).to.be.null();
    expect((await stage.get(`/api/knowledge/${doctor}`)).embeddedWith).to.equal('nomic');
    expect(await stage.find('doctor', { mode: 'semantic', limit: 1 })).to.equal([doctor]);
    const { degraded } = await stage.search('777 888');
    expect(degraded).to.equal(
      'nomic returned no vector for this query. Only keyword search was used',
    );
  });

  it('leaves no vectors of an entry that is deleted meanwhile', async () => {
    const { db } = stage.app.app.store;
    const count = async () =>
      (await db.selectFrom('knowledge_vectors').select('hash').execute()).length;
    const before = await count();
    embedder.become('works', 700);
    const since = embedder.asked.length;
    const id = await stage.keep('It is deleted before its vector comes.');
    await untilAtLeast(async () => embedder.asked.length, since + 1);
    await stage.ask('DELETE', `/api/knowledge/${id}`);
    await until(
      async () =>
        (await stage.get('/api/operations?kind=knowledge.embed&status=running')).operations,
      (all) => all.length === 0,
    );
    expect(await count()).to.equal(before);
  });

  it('can be cancelled, and goes on with the next text', async () => {
    embedder.become('hangs');
    await stage.keep('The cancelled note.');
    const [running] = await until(
      async () =>
        (await stage.get('/api/operations?kind=knowledge.embed&status=running')).operations,
      (all) => all.length === 1,
    );
    const cancelled = await stage.ask('POST', `/api/operations/${running.id}/cancel`);
    expect(cancelled.body.status).to.equal('cancelled');
    embedder.become('works');
    await stage.keep('The next note.');
    await stage.embedded();
  });
});
