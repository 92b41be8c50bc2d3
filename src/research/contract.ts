import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const depth = () => s.oneOf('ResearchDepth', 'quick', 'standard', 'deep');
const status = () =>
  s.oneOf(
    'ResearchStatus',
    ...(['queued', 'planning', 'searching', 'reading', 'writing'] as const),
    ...(['completed', 'failed', 'cancelled'] as const),
  );
const sourceKinds = () =>
  s
    .list(s.oneOf('ResearchSourceKind', 'web', 'knowledge'), 2)
    .min(1)
    .unique()
    .label('ResearchSourceKinds');
const urls = () =>
  s.list(s.text(2048).example('https://example.org/bridge'), 20).unique().label('ResearchUrls');

/** The number of sources of a job, at most. */
export const MAX_SOURCES = 60;

const limits = {
  maxSeconds: s.whole(10, 3600).description('120, 300 or 900 unless given, by the depth'),
  maxCostUsd: s.amount(0, 1000).description('Of its calls of models; the limit of your day stands'),
  maxSources: s
    .whole(1, MAX_SOURCES)
    .description('Pages and entries together; 8, 24 or 60 unless given, by the depth'),
};

const ResearchRequest = s.object('ResearchRequest', {
  question: s.text(2000).pattern(/\S/, 'some text'),
  depth: s.optional(depth()),
  sources: s.optional(sourceKinds().description('Both unless given: web, knowledge')),
  urls: s.optional(urls().description('Pages that are read in any case')),
  model: s.optional(s.text(200).description('The model that plans and writes')),
  limits: s.optional(
    s.object('ResearchLimits', {
      maxSeconds: s.optional(limits.maxSeconds),
      maxCostUsd: s.optional(limits.maxCostUsd),
      maxSources: s.optional(limits.maxSources),
    }),
  ),
});
export type ResearchRequest = s.Static<typeof ResearchRequest>;

const job = {
  id: s.id('research'),
  question: s.anyText(2000),
  depth: depth(),
  sourceKinds: sourceKinds(),
  urls: urls(),
  model: s.nullable(s.text(200)).description('As asked for; null: that of the topic `research`'),
  limits: s.object('AppliedResearchLimits', {
    maxSeconds: limits.maxSeconds,
    maxCostUsd: s.nullable(limits.maxCostUsd),
    maxSources: limits.maxSources,
  }),
  status: status(),
  plan: s.list(s.object('ResearchQuery', { query: s.anyText(400), why: s.anyText(400) }), 20),
  usage: s.object('ResearchUsage', {
    modelCalls: count(),
    inputTokens: count(),
    outputTokens: count(),
    costUsd: s.amount(0, 1e9),
    searches: count(),
    pages: count().description('That were read'),
  }),
  progress: s.nullable(
    s.object('ResearchProgress', {
      done: count(),
      total: s.nullable(count()),
      unit: s.text(40),
      note: s.nullable(s.anyText(500)),
    }),
  ),
  operationId: s.id('operation'),
  knowledgeId: s.nullable(s.id('entry')).description('The entry that the report is found by'),
  error: s.nullable(s.anyText(10_000)),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()),
};

/** A job in a list. */
export const ResearchJob = s.object('ResearchJob', job);
export type ResearchJob = s.Static<typeof ResearchJob>;

/** A source of a job, without its text. */
export const ResearchSource = s.object('ResearchSource', {
  n: s.whole(1, MAX_SOURCES).description('The number by which the report names it'),
  url: s.nullable(s.text(8192)).description('Of a page'),
  entryId: s.nullable(s.id('entry')).description('Of an entry of your knowledge'),
  title: s.anyText(500),
  status: s.oneOf('ResearchSourceStatus', 'found', 'read', 'failed'),
  used: s.flag().description('The report quotes it'),
  sha256: s.nullable(s.text(64)).description('Of its text, as it was read'),
  error: s.nullable(s.anyText(1000)).description('Why it was not read'),
  retrievedAt: s.nullable(s.time()),
});
export type ResearchSource = s.Static<typeof ResearchSource>;

export const ResearchReport = s.object('ResearchReport', {
  markdown: s.anyText(1_000_000).description('The whole report'),
  sections: s.list(
    s.object('ResearchSection', {
      heading: s.anyText(300),
      markdown: s.anyText(200_000),
      citations: s
        .list(
          s.object('ResearchCitation', {
            n: s.whole(1, MAX_SOURCES).description('The number of the source'),
            quote: s.anyText(10_000).description('As it stands in the text of the source'),
          }),
        )
        .description('In the order of the marks [n]'),
    }),
  ),
  limitations: s.list(s.anyText(1000)).description('What was not possible'),
  unverified: count().description(
    'Sentences without a quote that stands, and headings that claim; each is marked',
  ),
  model: s.nullable(s.text(200)).description('Who wrote it; `digest`: no language model'),
});
export type ResearchReport = s.Static<typeof ResearchReport>;

export const ResearchJobDetail = s.object('ResearchJobDetail', {
  ...job,
  sources: s.list(ResearchSource, MAX_SOURCES),
  report: s.nullable(ResearchReport),
});
export type ResearchJobDetail = s.Static<typeof ResearchJobDetail>;

export const research = contract({
  start: endpoint.post('/api/research/start', {
    summary: 'Research a question, as an operation: search, read, and write with quotes',
    example: { question: 'When was the bridge closed, and why?', depth: 'quick' },
    body: ResearchRequest,
    reply: ResearchJobDetail,
    status: 202,
  }),
  list: endpoint.get('/api/research/jobs', {
    summary: 'List your questions, newest first, without sources and reports',
    query: pageQuery('ResearchJobQuery', {
      status: s.optional(status()),
    }),
    reply: pageOf('jobs', ResearchJob, 'ResearchJobsPage'),
  }),
  get: endpoint.get('/api/research/jobs/{id}', {
    summary: 'How far a question is; its sources and its report',
    query: s.object('ResearchWait', {
      wait: s.optional(s.queryWhole(0, 60).description('Seconds to wait for its end')),
    }),
    reply: ResearchJobDetail,
  }),
  cancel: endpoint.post('/api/research/jobs/{id}/cancel', {
    summary: 'End the research of a question; the sources that were read stay',
    reply: ResearchJobDetail,
  }),
  delete: endpoint.delete('/api/research/jobs/{id}', {
    summary: 'Delete a question with its sources and its report, also from your knowledge',
  }),
});
