import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const format = () => s.oneOf('PageFormat', 'markdown', 'text', 'html');
const status = () =>
  s.oneOf('ReaderTaskStatus', 'queued', 'running', 'completed', 'failed', 'cancelled');
const kind = () =>
  s.oneOf('PageKind', 'article', 'page', 'pdf', 'feed', 'text', 'json', 'image', 'office');
/** The seconds that a request waits for the page. */
const wait = (max: number) => s.queryWhole(0, max);
const WAIT = 'Seconds to wait for the page, 20 unless given';

const address = () => s.text(2048).example('https://example.org/news/today');
const anyAddress = () => s.nullable(s.anyText(8192));
const fact = (max: number) => s.nullable(s.anyText(max));

const task = {
  id: s.id('readertask'),
  url: address().description('As it was asked for, without its fragment'),
  finalUrl: anyAddress().description('Where it was found, after all redirects'),
  canonicalUrl: anyAddress().description('The address that the page itself names'),
  status: status(),
  kind: s
    .nullable(kind())
    .description('`page`: read whole, as it is no article; null while it is not known'),
  title: fact(500),
  byline: fact(500),
  siteName: fact(500),
  publishedAt: s.nullable(s.time()),
  language: fact(40).description('As BCP 47'),
  excerpt: fact(1000),
  contentFormat: s.nullable(format()),
  truncated: s.flag().description('True: the content was longer, and cut at 1,000,000 characters'),
  words: s.nullable(s.whole(0, Number.MAX_SAFE_INTEGER)),
  summary: fact(100_000),
  summaryModel: fact(200).description('`digest`: there was no language model, so it is quoted'),
  sha256: fact(64).description('Of the content, before it was cut'),
  changed: s
    .nullable(s.flag())
    .description('Against the time before; null: you had not read it in this format'),
  previousTaskId: s.nullable(s.id('readertask')),
  httpStatus: s.nullable(s.whole(100, 999)),
  error: fact(10_000),
  note: fact(10_000).description(
    'What the content lacks. `null` if nothing is known to be missing',
  ),
  knowledgeId: s
    .nullable(s.id('entry'))
    .description('The entry of knowledge that was made of it, with `index`'),
  operationId: s.id('operation'),
  fetchedAt: s.nullable(s.time()),
  createdAt: s.time(),
  finishedAt: s.nullable(s.time()),
};

/** A task in a list. */
export const ReaderTask = s.object('ReaderTask', task);
export type ReaderTask = s.Static<typeof ReaderTask>;

/** A task with what was read. */
export const ReaderTaskDetail = s.object('ReaderTaskDetail', {
  ...task,
  content: s.nullable(s.anyText(1_000_000)),
  links: s
    .list(s.object('PageLink', { text: s.anyText(500), url: s.text(8192) }), 500)
    .description('What it links to, each address once; http, https and mailto alone'),
});
export type ReaderTaskDetail = s.Static<typeof ReaderTaskDetail>;

const ReadRequest = s.object('ReadRequest', {
  url: address().description('An http or https address without credentials in it'),
  format: s.optional(format().description('`markdown` unless given')),
  summarize: s.optional(s.flag()),
  model: s.optional(s.text(200).description('The model that summarizes')),
  index: s.optional(s.flag().description('Keep the content as knowledge, to be searched')),
  tags: s.optional(
    s
      .list(s.text(60).pattern(/^\S(.*\S)?$/, 'no space at its ends'), 20)
      .unique()
      .label('ReaderTags')
      .description('The tags of that knowledge'),
  ),
  wait: s.optional(s.whole(0, 60).description(WAIT)),
});
export type ReadRequest = s.Static<typeof ReadRequest>;

export const reader = contract({
  read: endpoint.post('/api/reader/read', {
    summary: 'Read a page; 200 with its content, 202 where it takes longer',
    query: s.object('ReadWait', { wait: s.optional(wait(60).description(WAIT)) }),
    example: { url: 'https://example.org/news/today', format: 'markdown' },
    body: ReadRequest,
    reply: ReaderTaskDetail,
    otherReplies: { 202: ReaderTaskDetail },
  }),
  list: endpoint.get('/api/reader/tasks', {
    summary: 'List the pages that you had read, newest first, without their contents',
    query: pageQuery('ReaderTaskQuery', {
      status: s.optional(status()),
      kind: s.optional(kind()),
      url: s.optional(s.text(2048).description('All times that this address was read')),
    }),
    reply: pageOf('tasks', ReaderTask, 'ReaderTasksPage'),
  }),
  get: endpoint.get('/api/reader/tasks/{id}', {
    summary: 'A page that was read, with its content',
    query: s.object('ReaderTaskWait', {
      wait: s.optional(wait(60).description('Seconds to wait for its end, 0 unless given')),
    }),
    reply: ReaderTaskDetail,
  }),
  cancel: endpoint.post('/api/reader/tasks/{id}/cancel', {
    summary: 'End the reading of a page',
    reply: ReaderTaskDetail,
  }),
  delete: endpoint.delete('/api/reader/tasks/{id}', {
    summary: 'Forget a page that was read; one that is being read is cancelled first',
  }),
});
