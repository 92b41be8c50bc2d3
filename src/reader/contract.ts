import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const format = () => s.oneOf('PageFormat', 'markdown', 'text', 'html');
const status = () =>
  s.oneOf('ReaderTaskStatus', 'queued', 'running', 'completed', 'failed', 'cancelled');
const kind = () =>
  s.oneOf('PageKind', 'article', 'page', 'pdf', 'feed', 'text', 'json', 'image', 'office');
const wait = (max: number) => s.queryWhole(0, max);
const WAIT = 'Maximum time to wait for the page, in seconds. Defaults to 20';

const address = () => s.url(2048).example('https://example.org/news/today');
const anyAddress = () => s.nullable(s.anyText(8192));
const fact = (max: number) => s.nullable(s.anyText(max));

const task = {
  id: s.id('readertask'),
  orgId: s.orgId(),
  url: address().description('Requested address, without its fragment'),
  finalUrl: anyAddress().description(
    'Address after all redirects. `null` until the page is received',
  ),
  canonicalUrl: anyAddress().description(
    'Canonical address that the page declares. `null` if the page declares none',
  ),
  status: status(),
  kind: s
    .nullable(kind())
    .description(
      'Type of the content. `page` is a page without a recognizable article. `null` until the type is known',
    ),
  title: fact(500).description('Title of the page. `null` if there is none'),
  byline: fact(500).description('Author that the page states. `null` if the page states none'),
  siteName: fact(500).description(
    'Name of the website that the page states. `null` if the page states none',
  ),
  publishedAt: s
    .nullable(s.time())
    .description('Publication time that the page states. `null` if the page states none'),
  language: fact(40).description(
    'Language that the page states, as a BCP 47 tag. `null` if the page states none',
  ),
  excerpt: fact(1000).description('Short description of the page. `null` if there is none'),
  contentFormat: s
    .nullable(format())
    .description('Format of the content. `null` until the page is read'),
  truncated: s.boolean().description('Whether the content was cut after 1,000,000 characters'),
  words: s
    .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
    .description('Number of words. `null` until the page is read'),
  summary: fact(100_000).description(
    'Summary of the page. `null` if no summary was requested or written',
  ),
  summaryModel: fact(200).description(
    'Model that wrote the summary. `digest` if the page is quoted because no language model was available. `null` without a summary',
  ),
  sha256: fact(64).description(
    'SHA-256 of the complete content. `null` until the page is read, and for an image',
  ),
  changed: s
    .nullable(s.boolean())
    .description(
      'Whether the content differs from the previous extraction in the same format. `null` until the page is read, and if there is no previous extraction',
    ),
  previousTaskId: s
    .nullable(s.id('readertask'))
    .description(
      'ID of the earlier extraction of the same address. `null` until the page is read, and if there is none',
    ),
  httpStatus: s
    .nullable(s.integer(100, 999))
    .description('HTTP status of the response. `null` without a response'),
  error: fact(10_000).description('Error message. `null` without an error'),
  note: fact(10_000).description(
    'Parts that are missing from the content. `null` if no part is known to be missing',
  ),
  knowledgeId: s
    .nullable(s.id('entry'))
    .description(
      'ID of the knowledge entry with the content. `null` if the content was not indexed',
    ),
  operationId: s.id('operation'),
  fetchedAt: s
    .nullable(s.time())
    .description('Time at which the page was read or the reading failed. `null` until then'),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()).description('End time. `null` if not ended yet'),
};

export const ReaderTask = s.object('ReaderTask', task);
export type ReaderTask = s.Static<typeof ReaderTask>;

export const ReaderTaskDetail = s.object('ReaderTaskDetail', {
  ...task,
  content: s
    .nullable(s.anyText(1_000_000))
    .description('Content of the page. `null` until the page is read'),
  links: s
    .list(s.object('PageLink', { text: s.anyText(500), url: s.text(8192) }), 500)
    .description(
      'First 500 links of the page, without duplicates. Only `http`, `https` and `mailto` links',
    ),
});
export type ReaderTaskDetail = s.Static<typeof ReaderTaskDetail>;

const ReadRequest = s.object('ReadRequest', {
  url: address().description('HTTP or HTTPS address without credentials'),
  format: s.optional(format().description('Format of the content. Defaults to `markdown`')),
  summarize: s.optional(s.boolean().description('Whether to summarize the page')),
  model: s.optional(
    s.text(200).description('Model that summarizes the page. Setting `model` implies `summarize`'),
  ),
  index: s.optional(
    s.boolean().description('Whether to add the content to your knowledge. Defaults to `false`'),
  ),
  tags: s.optional(
    s
      .list(
        s
          .text(60)
          .normalize('NFC')
          .pattern(/^\S(.*\S)?$/, 'no leading or trailing space'),
        20,
      )
      .unique()
      .label('ReaderTags')
      .description('Tags of the knowledge entry. Setting `tags` implies `index`'),
  ),
  wait: s.optional(s.integer(0, 60).description(WAIT)),
});
export type ReadRequest = s.Static<typeof ReadRequest>;

export const reader = contract({
  read: endpoint.post('/api/reader/read', {
    shared: 'member',
    summary: 'Extract the content of a web page',
    query: s.object('ReadWait', { wait: s.optional(wait(60).description(WAIT)) }),
    example: { url: 'https://example.org/news/today', format: 'markdown' },
    body: ReadRequest,
    reply: ReaderTaskDetail,
    otherReplies: { 202: ReaderTaskDetail },
  }),
  list: endpoint.get('/api/reader/tasks', {
    shared: 'member',
    summary: 'List web page extractions',
    query: pageQuery('ReaderTaskQuery', {
      status: s.optional(status()),
      kind: s.optional(kind()),
      url: s.optional(s.url(2048).description('Requested address of the page')),
    }),
    reply: createPageSchema('tasks', ReaderTask, 'ReaderTasksPage'),
  }),
  get: endpoint.get('/api/reader/tasks/{id}', {
    shared: 'member',
    summary: 'Get a web page extraction',
    query: s.object('ReaderTaskWait', {
      wait: s.optional(
        wait(60).description(
          'Maximum time to wait for the extraction to end, in seconds. Defaults to 0',
        ),
      ),
    }),
    reply: ReaderTaskDetail,
  }),
  cancel: endpoint.post('/api/reader/tasks/{id}/cancel', {
    shared: 'admin',
    summary: 'Cancel a web page extraction',
    reply: ReaderTaskDetail,
  }),
  delete: endpoint.delete('/api/reader/tasks/{id}', {
    shared: 'admin',
    summary: 'Delete a web page extraction and its content',
    description: 'An extraction that has not ended is cancelled first.',
  }),
});
