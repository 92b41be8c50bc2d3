import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation } from '../kernel/contract/operation.js';
import { pageOf, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.whole(0, Number.MAX_SAFE_INTEGER);
const sourceType = () =>
  s.oneOf(
    'KnowledgeSourceType',
    ...(['document', 'file', 'page', 'note', 'email', 'research', 'memory'] as const),
  );
/** `outside`: others wrote it, and an agent that reads it is untrusted. */
const trust = () => s.oneOf('KnowledgeTrust', 'owner', 'outside');
/** The label of an entry. */
export const knowledgeTag = () =>
  s
    .text(60)
    .normalize('NFC')
    .pattern(/^\S(.*\S)?$/, 'no space at its ends');
const tags = () => s.list(knowledgeTag(), 20).unique().label('KnowledgeTags');
const title = () => s.text(300).normalize('NFC').pattern(/\S/, 'some text');
/** The text of a note. */
export const knowledgeText = () => s.text(1_000_000).pattern(/\S/, 'some text');

/** The facts of an entry that say where a text is from; chunks, results and citations repeat them. */
const origin = {
  title: s.text(300),
  sourceType: sourceType(),
  sourceId: s
    .nullable(s.text(300))
    .description(
      'The document, file, page, research or memory it was made from; the call of the tool that kept a note',
    ),
  uri: s.nullable(s.text(4000)),
  trust: trust(),
};

const entry = {
  id: s.id('entry'),
  ...origin,
  tags: tags(),
  chunks: count(),
  chars: count(),
  language: s.nullable(s.text(10)).description('By the text; null: it cannot be told'),
  status: s.oneOf('KnowledgeStatus', 'indexing', 'ready', 'failed'),
  embeddedWith: s.nullable(s.text(200)).description('The model of its vectors; null: it has none'),
  error: s.nullable(s.anyText(2000)),
  createdAt: s.time(),
  updatedAt: s.time(),
};
export const KnowledgeEntry = s.object('KnowledgeEntry', entry);
export type KnowledgeEntry = s.Static<typeof KnowledgeEntry>;

const KnowledgeDetail = s.object('KnowledgeDetail', {
  ...entry,
  content: s.anyText(1_000_000).description('The first 1,000,000 characters'),
  truncated: s.flag(),
});

const KnowledgeChunk = s.object('KnowledgeChunk', {
  entryId: s.id('entry'),
  chunk: count().description('Counts from 0'),
  ...origin,
  text: s.anyText(100_000),
  page: s.nullable(count()).description('Of the source, such as that of a document'),
  heading: s.nullable(s.anyText(2000)).description('The headings above it'),
  before: s.nullable(count()).description('The number of the chunk before it'),
  after: s.nullable(count()),
  chunks: count().description('How many its entry has'),
});

const NewNote = s.object('NewNote', {
  title: s.optional(title().description('Its first line unless given')),
  text: knowledgeText(),
  tags: s.optional(tags()),
});
export type NewNote = s.Static<typeof NewNote>;

const KnowledgeChanges = s.ignoring(
  s.object('KnowledgeChanges', { title: s.optional(title()), tags: s.optional(tags()) }).min(1),
  ...Object.keys(entry).filter((key) => key !== 'title' && key !== 'tags'),
  ...['content', 'truncated'],
);

/** `hybrid` unless given; in a reply that which was possible. */
const searchMode = () => s.oneOf('KnowledgeMode', 'hybrid', 'keyword', 'semantic');
const KnowledgeFilters = s.object('KnowledgeFilters', {
  sourceType: s.optional(s.list(sourceType(), 7).min(1).unique()),
  tags: s.optional(
    s.list(knowledgeTag(), 20).min(1).unique().label('AllTags').description('It has all of them'),
  ),
  trust: s.optional(trust()),
  since: s.optional(s.moment()),
  until: s.optional(s.moment()),
  entryIds: s.optional(s.list(s.id('entry'), 200).min(1).unique()),
});
const KnowledgeSearch = s.object('KnowledgeSearch', {
  query: s
    .text(2000)
    .pattern(/\S/, 'some text')
    .description('Words; "quotes" keep a phrase, -word excludes'),
  mode: s.optional(searchMode()),
  filters: s.optional(KnowledgeFilters),
  limit: s.optional(s.whole(1, 50).description('10 unless given')),
});
export type KnowledgeSearch = s.Static<typeof KnowledgeSearch>;

const KnowledgeResult = s.object('KnowledgeResult', {
  entryId: s.id('entry'),
  chunk: count().description('Counts from 0'),
  ...origin,
  page: s.nullable(count()),
  snippet: s.anyText(2000),
  highlights: s
    .list(s.list(count(), 2))
    .description('From and to of what matched in the snippet, in UTF-16 code units'),
  score: s.amount(0, 1).description('How well it fits beside the others; at most 1'),
  matched: s
    .list(s.oneOf('KnowledgeMatch', 'word', 'part', 'meaning'))
    .description('How it was found: by words, by parts of words, by its meaning'),
});

const KnowledgeResults = s.object('KnowledgeResults', {
  mode: searchMode(),
  degraded: s.nullable(s.anyText(1000)).description('Why it is less than what was asked for'),
  results: s.list(KnowledgeResult, 50),
  tookMs: s.amount(0, 1e9),
});
export type KnowledgeResults = s.Static<typeof KnowledgeResults>;

const KnowledgeQuestion = s.object('KnowledgeQuestion', {
  question: s.text(2000).pattern(/\S/, 'some text'),
  filters: s.optional(KnowledgeFilters),
});

const KnowledgeAnswer = s.object('KnowledgeAnswer', {
  answer: s.anyText(100_000).description('With [n] behind what a quote proves'),
  citations: s.list(
    s.object('KnowledgeCitation', {
      n: count(),
      entryId: s.id('entry'),
      chunk: count(),
      ...origin,
      page: s.nullable(count()),
      quote: s.anyText(100_000),
      from: count().description('The place in the text of the chunk, in UTF-16 code units'),
      to: count(),
    }),
  ),
  model: s.nullable(s.text(200)).description('`digest`: no language model; null: none was asked'),
  grounded: s.flag().description('True: every sentence has a quote, and all quotes stand there'),
});
export type KnowledgeAnswer = s.Static<typeof KnowledgeAnswer>;

const KnowledgeIndex = s
  .object('KnowledgeIndex', {
    text: s.optional(knowledgeText()),
    title: s.optional(title().description('Of a text: its first line unless given')),
    url: s.optional(s.text(2048).description('A page, which is read first')),
    documentId: s.optional(s.id('document')),
    path: s.optional(
      s.text(4096).description('A folder or a file on the machine of the daemon, absolute'),
    ),
    type: s.optional(s.oneOf('FolderType', 'file', 'directory')),
    patterns: s.optional(
      s
        .list(s.text(200).pattern(/\S/, 'some text'), 100)
        .description('The files of the folder, as **/*.md; with ! those that are left out'),
    ),
    watch: s.optional(s.flag().description('Read what changes in the folder from now on')),
    tags: s.optional(tags()),
  })
  .xor('text', 'url', 'documentId', 'path')
  .with('title', 'text')
  .with('type', 'path')
  .with('patterns', 'path')
  .with('watch', 'path');
export type KnowledgeIndex = s.Static<typeof KnowledgeIndex>;

const KnowledgeStats = s.object('KnowledgeStats', {
  total: count(),
  chunks: count(),
  chars: count(),
  bySourceType: s.record('KnowledgeCounts').description('The entries of each type'),
  embedding: s.object('KnowledgeEmbedding', {
    model: s.nullable(s.text(200)),
    dimensions: s.nullable(count()),
    embedded: count().description('The chunks that have vectors'),
    pending: count(),
  }),
  modes: s.object('KnowledgeModes', {
    keyword: s.flag(),
    semantic: s.flag(),
    hybrid: s.flag(),
    reason: s
      .nullable(s.anyText(1000))
      .description('Why some cannot be used, or do not find everything'),
  }),
});
export type KnowledgeStats = s.Static<typeof KnowledgeStats>;

export const knowledge = contract({
  list: endpoint.get('/api/knowledge', {
    summary: 'List your entries, newest first',
    query: pageQuery('KnowledgeQuery', {
      sourceType: s.optional(sourceType()),
      tag: s.optional(knowledgeTag()),
      trust: s.optional(trust()),
      q: s.optional(s.text(200).description('What stands in the title')),
      since: s.optional(s.moment().description('Made since then')),
    }),
    reply: pageOf('entries', KnowledgeEntry),
  }),
  create: endpoint.post('/api/knowledge', {
    summary: 'Keep a note',
    example: { title: 'Staging', text: 'The staging server is argon.', tags: ['servers'] },
    body: NewNote,
    reply: KnowledgeEntry,
    status: 201,
  }),
  stats: endpoint.get('/api/knowledge/stats', {
    summary: 'Counts by source type, and how it can be searched',
    reply: KnowledgeStats,
  }),
  search: endpoint.post('/api/knowledge/search', {
    summary: 'Search your knowledge',
    readsOnly: true,
    example: { query: '"staging server" called -draft', limit: 5 },
    body: KnowledgeSearch,
    reply: KnowledgeResults,
  }),
  ask: endpoint.post('/api/knowledge/ask', {
    summary: 'Ask a question, which a model answers with quotes from your knowledge',
    example: { question: 'What is the staging server called?' },
    body: KnowledgeQuestion,
    reply: KnowledgeAnswer,
  }),
  index: endpoint.post('/api/knowledge/index', {
    summary: 'Index a text, a page, a document, or files of the machine, as an operation',
    example: { text: 'All of the text.', title: 'A text' },
    body: KnowledgeIndex,
    needsPermission: true,
    reply: Operation,
    status: 202,
  }),
  get: endpoint.get('/api/knowledge/{id}', {
    summary: 'Show an entry with its text',
    reply: KnowledgeDetail,
  }),
  chunk: endpoint.get('/api/knowledge/{id}/chunks/{n}', {
    summary: 'Show one piece of an entry',
    reply: KnowledgeChunk,
  }),
  update: endpoint.patch('/api/knowledge/{id}', {
    summary: 'Change the title or the tags of an entry',
    example: { tags: ['servers', 'staging'] },
    body: KnowledgeChanges,
    reply: KnowledgeEntry,
  }),
  delete: endpoint.delete('/api/knowledge/{id}', { summary: 'Delete an entry' }),
});
