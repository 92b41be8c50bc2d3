import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type { Config } from '../../src/config.js';
import { startApp, type TestApp, until } from '../harness/app.js';
import { inside } from '../harness/inside.js';
import { breaks, refuses } from '../harness/openai.js';
import { queriesOf, quotingReport, startResearcher, startWeb } from '../harness/web.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const QUESTION = 'When was the bridge of Alton closed?';
const NO_MODEL = 'There is no language model, so the places that fit best are quoted instead.';
const page = (text: string): string => `<title>T</title><article><p>${text}</p></article>`;
const BRIDGE = 'Alton is a town. The bridge of Alton was closed in March. People swim now.';

describe('research that lacks something', () => {
  let app: TestApp;
  let owner: { id: string; token: string };
  let web: Awaited<ReturnType<typeof startWeb>>;
  let model: Awaited<ReturnType<typeof startResearcher>>;

  before(async () => {
    web = await startWeb([
      { '/bridge': page(BRIDGE), '/river': page('The river is deep.') },
      {
        '/robots.txt': (response) => void response.writeHead(500).end('down'),
        '/bridge': page('The bridge of Alton is closed to programs.'),
      },
    ]);
    model = await startResearcher((task, prompt) =>
      task === 'write' ? quotingReport(prompt) : queriesOf('one', 'two', 'three'),
    );
    app = await startApp({ config: { registration: 'open', egressAllow: web.egressAllow } });
    owner = await app.register('owner');
    const text = 'My note: the bridge of Alton was closed on a Monday.';
    await app.call('POST', '/api/knowledge', { token: owner.token, body: { text } });
  });
  after(async () => {
    await app.stop();
    await web.stop();
    await model.stop();
  });
  beforeEach(() => {
    web.fails(false);
    web.finds();
    web.forget();
  });

  const withModel = (): Partial<Config> => ({
    modelUrl: model.openai.baseUrl,
    modelName: 'fake-1',
  });
  const restart = async (config: Partial<Config>): Promise<void> => {
    await app.restart(config);
    await until(
      () =>
        app.call('POST', '/api/knowledge/search', { token: owner.token, body: { query: 'Alton' } }),
      ({ body }) => body.results.length > 0,
    );
  };
  const start = (more: object) =>
    app.call('POST', '/api/research/start', {
      token: owner.token,
      body: { question: QUESTION, depth: 'quick', ...more },
    });
  const ended = async (more: object = {}) => {
    const begun = await start(more);
    expect(begun.status, begun.text).to.equal(202);
    const path = `/api/research/jobs/${begun.body.id}?wait=50`;
    return (await app.call('GET', path, owner)).body;
  };
  const lastNotice = async () => {
    const { body } = await app.call('GET', '/api/notifications?limit=1', owner);
    return [body.notifications[0].kind, body.notifications[0].body];
  };

  it('has only the knowledge of its owner without a search provider, and says so', async () => {
    await restart(withModel());
    const job = await ended();
    expect([job.status, job.plan, job.usage.searches]).to.equal(['completed', [], 0]);
    expect(job.report.limitations).to.equal([
      'No search provider is set (ADJUTANT_SEARCH_PROVIDER), so the web was not searched.',
    ]);
    const [source] = job.sources;
    expect([source.url, source.used, job.sources.length]).to.equal([null, true, 1]);
    expect(job.report.markdown).to.match(/\(your knowledge, entry [0-9a-z]{6}\)/);
    const { status, body } = await start({ sources: ['web'] });
    expect([status, body.code]).to.equal([503, 'no_search_provider']);
    const named = await ended({ sources: ['web'], urls: [web.at(0, '/bridge')] });
    expect([named.status, named.usage.pages]).to.equal(['completed', 1]);
  });

  it('quotes its sources without a model, and says so', async () => {
    await restart({ searchUrl: web.searchUrl });
    web.finds([web.at(0, '/bridge')]);
    const job = await ended();
    expect(web.queries).to.equal([QUESTION]);
    const { report, status, usage } = job;
    expect([status, usage.modelCalls, report.model]).to.equal(['completed', 0, 'digest']);
    expect(report.limitations).to.equal([NO_MODEL]);
    expect(report.unverified).to.equal(0);
    expect(report.sections[0].citations.map(({ quote }: { quote: string }) => quote)).to.include(
      'The bridge of Alton was closed in March.',
    );
    expect(report.sections).to.have.length(2);
  });

  it('does without both, and ends', async () => {
    await restart({});
    const job = await ended();
    expect([job.status, job.report.model]).to.equal(['completed', 'digest']);
    expect(job.report.limitations).to.have.length(2);
    expect(job.report.sections[0].citations[0].quote).to.contain('closed on a Monday');
  });

  it('goes on with what it has where the search fails in the middle', async () => {
    await restart({ searchUrl: web.searchUrl, ...withModel() });
    web.finds([web.at(0, '/bridge')]);
    model.answers((task, prompt) => {
      if (task === 'plan') return queriesOf('one', 'two', 'three');
      return quotingReport(prompt);
    });
    const { search } = web;
    search.server.once('request', () => setImmediate(() => web.fails(true)));
    const job = await ended({ depth: 'standard', sources: ['web'] });
    expect([job.status, job.usage.searches, job.usage.pages]).to.equal(['completed', 3, 1]);
    expect(job.report.limitations).to.equal([
      'A search failed: The search answered 500, and not with results.',
    ]);
  });

  it('quotes its sources where the model fails in the middle', async () => {
    await restart({ searchUrl: web.searchUrl, ...withModel() });
    web.finds([web.at(0, '/bridge')]);
    model.answers((task) => (task === 'plan' ? queriesOf('one') : refuses(500)));
    const job = await ended({ sources: ['web'] });
    expect([job.status, job.usage.modelCalls]).to.equal(['completed', 1]);
    expect(job.report.model).to.equal('digest');
    expect(job.report.limitations).to.equal(['No language model answered: fake-1 answered 500.']);
    expect(job.report.sections[0].citations[0].n).to.equal(1);
  });

  it('asks a model again whose report cannot be read, once', async () => {
    await restart({ searchUrl: web.searchUrl, ...withModel() });
    web.finds([web.at(0, '/bridge')]);
    model.answers((task) => (task === 'plan' ? queriesOf('one') : 'I would rather not.'));
    const job = await ended({ sources: ['web'] });
    expect([job.usage.modelCalls, job.report.model]).to.equal([3, 'digest']);
    expect(job.report.limitations).to.equal(['What the language model wrote could not be read.']);
  });

  it('fails where something failed and nothing could be read, and says why', async () => {
    await restart({ searchUrl: web.searchUrl });
    web.finds([web.at(1, '/bridge')]);
    const closed = await ended({ sources: ['web'] });
    const why = `Nothing could be read: its robots.txt did not come: ${web.at(1, '/robots.txt')} answered 500 (Internal Server Error)`;
    expect([closed.status, closed.error]).to.equal(['failed', why]);
    expect(web.visitsOf(web.at(1, '/bridge'))).to.equal(0);
    expect(await lastNotice()).to.equal(['research_failed', why]);
    web.fails(true);
    const down = await ended({ sources: ['web'] });
    expect([down.status, down.error]).to.equal([
      'failed',
      'Nothing could be read: A search failed: The search answered 500, and not with results.',
    ]);
  });

  it('completes with nothing where there is nothing', async () => {
    await restart({ searchUrl: web.searchUrl });
    const job = await ended({ sources: ['web'] });
    expect([job.status, job.knowledgeId]).to.equal(['completed', null]);
    expect(job.report.markdown).to.contain('Nothing was found that answers this question.');
    expect((await lastNotice())[0]).to.equal('research_completed');
  });

  it('keeps to its limits of sources, cost and time', async () => {
    await restart({
      searchUrl: web.searchUrl,
      ...withModel(),
      modelInputPrice: 1000,
      modelOutputPrice: 1000,
    });
    model.answers((task, prompt) => (task === 'plan' ? queriesOf('one') : quotingReport(prompt)));
    web.finds([web.at(0, '/bridge'), web.at(0, '/river')]);
    const few = await ended({ sources: ['web'], limits: { maxSources: 1 } });
    expect(few.sources.map(({ url }: { url: string }) => url)).to.equal([web.at(0, '/bridge')]);
    web.forget();
    model.openai.asked.length = 0;
    web.finds([web.at(0, '/bridge')]);
    const poor = await ended({ sources: ['web'], limits: { maxCostUsd: 0.001 } });
    expect([poor.usage.modelCalls, poor.usage.costUsd, poor.report.model]).to.equal([
      ...[0, 0],
      'digest',
    ]);
    expect(poor.report.limitations).to.equal([
      'No language model answered: fake-1: it would pass a limit of cost.',
    ]);
    expect(model.openai.asked).to.equal([]);
  });

  it('counts what models cost that broke off, and asks no more at the limit', async () => {
    await restart({
      searchUrl: web.searchUrl,
      ...withModel(),
      modelInputPrice: 1,
      modelOutputPrice: 20,
    });
    model.openai.asked.length = 0;
    model.openai.script(breaks('word '.repeat(550)), breaks('word '.repeat(550)));
    web.finds([web.at(0, '/bridge')]);
    const spent = async (): Promise<number> =>
      (await app.call('GET', '/api/models/usage', owner)).body.total.costUsd;
    const before = await spent();
    const { usage, report } = await ended({ sources: ['web'], limits: { maxCostUsd: 0.022 } });
    expect([usage.modelCalls, report.model]).to.equal([model.openai.asked.length, 'digest']);
    expect(Math.abs((await spent()) - before - usage.costUsd) < 1e-9).to.be.true();
    expect(usage.costUsd > 0.01 && usage.costUsd <= 0.022).to.be.true();
    model.openai.script();
  });

  it('passes over pages that may not be asked, and refuses addresses that are too long', async () => {
    await restart({ searchUrl: web.searchUrl });
    const private_ = ['http://127.0.0.1/a', 'http://[::1]/b', 'http://10.0.0.1/c', 'file:///d'];
    web.finds([...private_, web.at(0, '/bridge')]);
    const job = await ended({ sources: ['web'] });
    expect(
      job.sources.map(({ url, status }: { url: string; status: string }) => [url, status]),
    ).to.equal([[web.at(0, '/bridge'), 'read']]);
    const long = await start({ urls: [`https://example.org/${'長'.repeat(2000)}`] });
    expect([long.status, long.body.details?.[0]?.path]).to.equal([400, 'urls.0']);
  });

  it('leaves no entry of a report whose job was deleted or cancelled meanwhile', async () => {
    await restart({});
    for (const isDeleted of [true, false]) {
      const { id } = (await start({ sources: ['knowledge'] })).body;
      const path = `/api/research/jobs/${id}`;
      if (isDeleted) await app.call('DELETE', path, owner);
      else await app.call('POST', `${path}/cancel`, owner);
      const { body: job } = await app.call('GET', path, owner);
      await until(
        () => app.call('GET', '/api/operations?status=running', owner),
        ({ body }) => body.operations.length === 0,
      );
      const { body } = await app.call('GET', '/api/knowledge?sourceType=research&limit=200', owner);
      const own = body.entries.filter(({ sourceId }: { sourceId: string }) => sourceId === id);
      expect(own.length).to.equal(job.knowledgeId ? 1 : 0);
    }
  });

  it('is never pruned', async () => {
    await restart({});
    const { id } = await ended();
    const old = { finished_at: '2020-01-01T00:00:00.000Z', created_at: '2020-01-01T00:00:00.000Z' };
    await app.app.store.db.updateTable('research_jobs').set(old).where('id', '=', id).execute();
    await inside(app.app).retention.prune();
    expect((await app.call('GET', `/api/research/jobs/${id}`, owner)).status).to.equal(200);
  });
});
