import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, until, untilMatches } from '../harness/app.js';
import {
  queriesOf,
  quotingReport,
  researchConfig,
  type ScriptedPage,
  type ScriptedWeb,
  startResearcher,
  startWeb,
} from '../harness/web.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const QUESTION = 'When was the bridge of Alton closed?';
const page = (text: string): string => `<title>T</title><article><p>${text}</p></article>`;
const PAGES: Record<string, ScriptedPage> = {
  '/robots.txt': 'User-agent: *\nDisallow: /private\n',
  '/bridge': page('The bridge of Alton was closed in March. It is made of stone.'),
  '/later': page('The bridge of Alton was closed in May, says the mayor. Nobody knows why.'),
  '/private': page('The bridge of Alton was never closed. This is private.'),
  '/copy': page('The bridge of Alton was closed in March. It is made of stone.'),
  '/empty': '<title>T</title>',
};

describe('research', () => {
  let app: TestApp;
  let web: ScriptedWeb;
  let model: Awaited<ReturnType<typeof startResearcher>>;
  let owner: { id: string; token: string };
  let stranger: { id: string; token: string };
  const waiting: ServerResponse[] = [];

  before(async () => {
    web = await startWeb([{ ...PAGES, '/slow': (response) => void waiting.push(response) }]);
    model = await startResearcher((task, prompt) =>
      task === 'write' ? quotingReport(prompt) : queriesOf('alton bridge closed'),
    );
    app = await startApp({ config: researchConfig(web, model) });
    owner = await app.register('owner');
    stranger = await app.register('stranger');
  });
  after(async () => {
    await app.stop();
    await web.stop();
    await model.stop();
  });
  beforeEach(() => {
    web.forget();
    waiting.length = 0;
  });

  const start = (more: object = {}) =>
    app.call('POST', '/api/research/start', {
      token: owner.token,
      body: { question: QUESTION, depth: 'quick', ...more },
    });
  const jobs = (method: string, path: string, token = owner.token) =>
    app.call(method, `/api/research/jobs${path}`, { token });
  const ended = async (more: object = {}) => {
    const begun = await start(more);
    expect(begun.status, begun.text).to.equal(202);
    return (await jobs('GET', `/${begun.body.id}?wait=50`)).body;
  };

  it('plans, searches, reads and writes, with quotes that stand in their sources', async () => {
    web.finds([web.at(0, '/bridge#top'), web.at(0, '/later'), web.at(0, '/private')]);
    const job = await ended();
    expect([job.status, job.error, job.depth]).to.equal(['completed', null, 'quick']);
    expect(web.queries).to.equal(['alton bridge closed']);
    expect(job.plan).to.equal([{ query: 'alton bridge closed', why: 'to know' }]);
    const shown = job.sources.map(({ n, url, status, used, error }: Record<string, unknown>) => {
      return { n, url, status, used, error };
    });
    const refused = 'its robots.txt disallows it';
    expect(shown).to.equal([
      { n: 1, url: web.at(0, '/bridge'), status: 'read', used: true, error: null },
      { n: 2, url: web.at(0, '/later'), status: 'read', used: true, error: null },
      { n: 3, url: web.at(0, '/private'), status: 'failed', used: false, error: refused },
    ]);
    expect(web.visitsOf(web.at(0, '/private'))).to.equal(0);
    const { markdown, sections, limitations, unverified, model: writer } = job.report;
    expect([unverified, writer]).to.equal([0, 'fake-1']);
    expect(limitations).to.equal(['Pages that could not be read: 1 of 3.']);
    expect(sections).to.equal([
      {
        heading: 'What is said',
        markdown: 'Source 1 says so. [1] Source 2 says so. [2]',
        citations: [
          { n: 1, quote: 'The bridge of Alton was closed in March.' },
          { n: 2, quote: 'The bridge of Alton was closed in May, says the mayor.' },
        ],
      },
    ]);
    expect(markdown).to.contain(`- [1] Page 0: <${web.at(0, '/bridge')}>`);
    const refusal = `- [3] Page 2: <${web.at(0, '/private')}> (${refused})`;
    expect(markdown.split('\n\n## Sources not read\n\n')[1]).to.equal(refusal);
    const { costUsd, ...usage } = job.usage;
    expect(usage).to.equal({
      ...{ modelCalls: 2, inputTokens: 200, outputTokens: 40 },
      ...{ searches: 1, pages: 2 },
    });
    const operation = await app.call('GET', `/api/operations/${job.operationId}`, owner);
    expect(operation.body.status).to.equal('completed');
    expect(operation.body.resource).to.equal({ kind: 'research', id: job.id });
  });

  it('tells the owner, and keeps the report as knowledge from outside', async () => {
    web.finds([web.at(0, '/bridge')]);
    const job = await ended();
    const { body } = await app.call('GET', '/api/notifications?limit=1', owner);
    const [{ kind, title, body: said, link }] = body.notifications;
    expect({ kind, title, said, link }).to.equal({
      kind: 'research_completed',
      title: `Research completed: ${QUESTION}`,
      said: 'Source 1 says so. [1]',
      link: `/api/research/jobs/${job.id}`,
    });
    const entry = await app.call('GET', `/api/knowledge/${job.knowledgeId}`, owner);
    const { sourceType, sourceId, trust, content } = entry.body;
    expect({ sourceType, sourceId, trust }).to.equal({
      sourceType: 'research',
      sourceId: job.id,
      trust: 'outside',
    });
    expect(content).to.equal(job.report.markdown);
    expect((await jobs('DELETE', `/${job.id}`)).status).to.equal(204);
    expect((await app.call('GET', `/api/knowledge/${job.knowledgeId}`, owner)).status).to.equal(
      404,
    );
  });

  it('reads the pages that the owner names, each text once', async () => {
    const urls = [web.at(0, '/bridge'), web.at(0, '/copy'), web.at(0, '/empty')];
    const job = await ended({ urls, sources: ['knowledge'] });
    expect(web.queries).to.equal([]);
    const shown = job.sources.slice(0, 3).map(({ status, error }: Record<string, unknown>) => {
      return [status, error];
    });
    const twin = shown.findIndex(([, error]: unknown[]) => /same text/.test(String(error)));
    expect([0, 1]).to.include(twin);
    expect(shown[twin]).to.equal(['failed', `The page has the same text as source ${2 - twin}`]);
    expect(shown[1 - twin]).to.equal(['read', null]);
    expect(shown[2]).to.equal([
      'failed',
      'The page has no visible text. Use another page, or upload its content as a document',
    ]);
  });

  it('asks once what is missing where it is deep', async () => {
    model.answers((task, prompt) => {
      if (task === 'write') return quotingReport(prompt);
      return task === 'plan' ? queriesOf('first', 'second') : queriesOf('second', 'third');
    });
    web.finds([web.at(0, '/bridge')], [web.at(0, '/bridge')], [web.at(0, '/later')]);
    const job = await ended({ depth: 'deep' });
    expect(web.queries).to.equal(['first', 'second', 'third']);
    expect(model.prompts('missing').at(-1)).to.contain('closed in March');
    expect(job.sources.filter(({ url }: { url: string | null }) => url)).to.have.length(2);
  });

  it('marks and counts what no quote proves, and takes addresses of nobody out', async () => {
    const quote = 'The bridge of  Alton was\nclosed in March';
    const text =
      'Closed in March ![x](http://evil.example/?a=1) <img src=x> see http://evil.example/y';
    model.answers((task) =>
      task !== 'write'
        ? queriesOf('q')
        : `Here it is: ${JSON.stringify({
            sections: [
              {
                heading: 'A [b](http://evil.example/)',
                sentences: [
                  { text, quotes: [{ n: 1, quote }] },
                  { text: 'It fell.', quotes: [{ n: 1, quote: 'The bridge fell down' }] },
                  { text: 'It is old.', quotes: [] },
                ],
              },
            ],
            limitations: ['The year is not said.'],
          })}`,
    );
    web.finds([web.at(0, '/bridge')]);
    const { report } = await ended();
    expect(report.unverified).to.equal(2);
    expect(report.sections[0]).to.equal({
      heading: 'A b',
      markdown:
        'Closed in March x see (address removed) [1] It fell. (unverified) It is old. (unverified)',
      citations: [{ n: 1, quote: 'The bridge of Alton was closed in March' }],
    });
    expect(report.limitations).to.equal(['The year is not said.']);
    expect(report.markdown).not.to.contain('evil');
  });

  it('is cancelled within a second, and keeps what was found', async () => {
    web.finds([web.at(0, '/bridge'), web.at(0, '/slow')]);
    const { id, operationId } = (await start()).body;
    await untilMatches(async () => waiting.length, 1);
    await until(
      () => jobs('GET', `/${id}`),
      ({ body: running }) => running.sources[0].status === 'read',
    );
    const { status, body } = await jobs('POST', `/${id}/cancel`);
    expect([status, body.status]).to.equal([200, 'cancelled']);
    await untilMatches(async () => waiting[0]?.destroyed, true);
    const sources = body.sources.map(({ status: read }: { status: string }) => read);
    expect([sources, body.report]).to.equal([['read', 'found'], null]);
    const operation = await app.call('GET', `/api/operations/${operationId}`, owner);
    expect(operation.body.status).to.equal('cancelled');
    const again = await jobs('POST', `/${id}/cancel`);
    expect([again.status, again.body.message]).to.equal([
      409,
      'The research job has already ended with status cancelled',
    ]);
  });

  it('is not there for others', async () => {
    web.finds([web.at(0, '/bridge')]);
    const { id } = await ended();
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/cancel`],
      ['DELETE', `/${id}`],
    ] as const) {
      const { status, body } = await jobs(method, path, stranger.token);
      expect([status, body.message]).to.equal([404, 'No research job with that id']);
    }
    expect((await jobs('GET', '', stranger.token)).body.jobs).to.equal([]);
    const { body } = await jobs('GET', '?status=completed&limit=1');
    expect(body.jobs.map(({ id: listed }: { id: string }) => listed)).to.equal([id]);
    expect(Object.keys(body.jobs[0])).not.to.include(['sources', 'report']);
  });

  it('refuses what can never be done, by its field', async () => {
    const pathsOf = async (more: object) => {
      const { status, body } = await start(more);
      return [status, ...(body.details ?? []).map(({ path }: { path: string }) => path)];
    };
    expect(await pathsOf({ question: ' ' })).to.equal([400, 'question']);
    expect(await pathsOf({ urls: ['http://10.0.0.1/'] })).to.equal([400, 'urls.0']);
    expect(await pathsOf({ model: 'none' })).to.equal([400, 'model']);
    const urls = [web.at(0, '/bridge'), web.at(0, '/later')];
    expect(await pathsOf({ urls, limits: { maxSources: 1 } })).to.equal([400, 'urls']);
  });
});
