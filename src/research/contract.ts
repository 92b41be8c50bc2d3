import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);
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
  s.list(s.url(2048).example('https://example.org/bridge'), 20).unique().label('ResearchUrls');

export const MAX_SOURCES = 60;

const limits = {
  maxSeconds: s
    .integer(10, 3600)
    .description(
      'Maximum duration, in seconds. Defaults to 120 (`quick`), 300 (`standard`) or 900 (`deep`)',
    ),
  maxCostUsd: s
    .number(0, 1000)
    .description(
      'Maximum cost of model calls, in US dollars. If omitted, only your daily cost limit applies',
    ),
  maxSources: s
    .integer(1, MAX_SOURCES)
    .description(
      'Maximum number of web pages and knowledge entries. Defaults to 8 (`quick`), 24 (`standard`) or 60 (`deep`)',
    ),
};

const ResearchRequest = s.object('ResearchRequest', {
  question: s.text(2000).pattern(/\S/, 'non-blank text'),
  depth: s.optional(depth()),
  sources: s.optional(
    sourceKinds().description('Where to search. Defaults to `web` and `knowledge`'),
  ),
  urls: s.optional(urls().description('Addresses of pages to read in addition to search results')),
  model: s.optional(
    s
      .text(200)
      .description('Model that plans and writes. Defaults to the model for the topic `research`'),
  ),
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
  orgId: s.orgId(),
  question: s.anyText(2000),
  depth: depth(),
  sourceKinds: sourceKinds(),
  urls: urls(),
  model: s
    .nullable(s.text(200))
    .description('Requested model. `null` selects the model for the topic `research`'),
  limits: s.object('AppliedResearchLimits', {
    maxSeconds: limits.maxSeconds,
    maxCostUsd: s
      .nullable(limits.maxCostUsd)
      .description(
        'Maximum cost of model calls, in US dollars. `null` means that only your daily cost limit applies',
      ),
    maxSources: limits.maxSources,
  }),
  status: status(),
  plan: s.list(s.object('ResearchQuery', { query: s.anyText(400), why: s.anyText(400) }), 20),
  usage: s.object('ResearchUsage', {
    modelCalls: count(),
    inputTokens: count(),
    outputTokens: count(),
    costUsd: s.number(0, 1e9),
    searches: count(),
    pages: count().description('Number of pages that were read'),
  }),
  progress: s
    .nullable(
      s.object('ResearchProgress', {
        done: count(),
        total: s
          .nullable(count())
          .description('Total amount, in `unit`. `null` while the amount is unknown'),
        unit: s.text(40),
        note: s
          .nullable(s.anyText(500))
          .description('Current activity of the job. `null` if none is reported'),
      }),
    )
    .description('Progress of the job. `null` until the job reports progress'),
  operationId: s.id('operation'),
  knowledgeId: s
    .nullable(s.id('entry'))
    .description('ID of the knowledge entry with the report. `null` if there is none'),
  error: s.nullable(s.anyText(10_000)).description('Error message. `null` without an error'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
};

export const ResearchJob = s.object('ResearchJob', job);
export type ResearchJob = s.Static<typeof ResearchJob>;

export const ResearchSource = s.object('ResearchSource', {
  n: s.integer(1, MAX_SOURCES).description('Number of the source in the report, from 1'),
  url: s.nullable(s.text(8192)).description('Address of a web page. `null` for a knowledge entry'),
  entryId: s
    .nullable(s.id('entry'))
    .description('ID of the knowledge entry. `null` for a web page'),
  title: s.anyText(500),
  status: s.oneOf('ResearchSourceStatus', 'found', 'read', 'failed'),
  used: s.boolean().description('Whether the report quotes the source'),
  sha256: s
    .nullable(s.text(64))
    .description('SHA-256 of the text of the source. `null` if the source was not read'),
  error: s
    .nullable(s.anyText(1000))
    .description('Reason why the source could not be read. `null` without an error'),
  retrievedAt: s
    .nullable(s.time())
    .description('Time at which the source was read. `null` if not read'),
});
export type ResearchSource = s.Static<typeof ResearchSource>;

export const ResearchReport = s.object('ResearchReport', {
  markdown: s.anyText(1_000_000).description('Complete report'),
  sections: s.list(
    s.object('ResearchSection', {
      heading: s.anyText(300),
      markdown: s.anyText(200_000),
      citations: s
        .list(
          s.object('ResearchCitation', {
            n: s.integer(1, MAX_SOURCES).description('Number of the source'),
            quote: s.anyText(10_000).description('Exact quote from the source'),
          }),
        )
        .description('Citations in the order of the marks `[n]` in the section'),
    }),
  ),
  limitations: s
    .list(s.anyText(1000))
    .description('Limits of the research, such as pages that could not be read'),
  unverified: count().description(
    'Number of sentences and headings that no quote supports. Each is marked in the report',
  ),
  model: s
    .text(200)
    .description(
      'Model that wrote the report. `digest` if passages are quoted because no language model was available',
    ),
});
export type ResearchReport = s.Static<typeof ResearchReport>;

export const ResearchJobDetail = s.object('ResearchJobDetail', {
  ...job,
  sources: s.list(ResearchSource, MAX_SOURCES),
  report: s
    .nullable(ResearchReport)
    .description('Report of the job. `null` until the job is complete'),
});
export type ResearchJobDetail = s.Static<typeof ResearchJobDetail>;

export const research = contract({
  start: endpoint.post('/api/research/start', {
    shared: 'member',
    summary: 'Start a research job',
    example: { question: 'When was the bridge closed, and why?', depth: 'quick' },
    body: ResearchRequest,
    reply: ResearchJobDetail,
    status: 202,
  }),
  list: endpoint.get('/api/research/jobs', {
    shared: 'member',
    summary: 'List research jobs',
    query: pageQuery('ResearchJobQuery', {
      status: s.optional(status()),
    }),
    reply: createPageSchema('jobs', ResearchJob, 'ResearchJobsPage'),
  }),
  get: endpoint.get('/api/research/jobs/{id}', {
    shared: 'member',
    summary: 'Get a research job',
    query: s.object('ResearchWait', {
      wait: s.optional(
        s
          .queryWhole(0, 60)
          .description('Maximum time to wait for the job to end, in seconds. Defaults to 0'),
      ),
    }),
    reply: ResearchJobDetail,
  }),
  cancel: endpoint.post('/api/research/jobs/{id}/cancel', {
    shared: 'admin',
    summary: 'Cancel a research job',
    reply: ResearchJobDetail,
  }),
  delete: endpoint.delete('/api/research/jobs/{id}', {
    shared: 'admin',
    summary: 'Delete a research job',
    description:
      'A job that has not ended is cancelled first. Its report is deleted from your knowledge as well.',
  }),
});
