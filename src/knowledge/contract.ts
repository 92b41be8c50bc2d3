import { contract, endpoint } from '../kernel/contract/endpoint.js';
import { Operation } from '../kernel/contract/operation.js';
import { createPageSchema, pageQuery } from '../kernel/contract/page.js';
import * as s from '../kernel/contract/schema.js';

const count = () => s.integer(0, Number.MAX_SAFE_INTEGER);
const sourceType = () =>
  s.oneOf(
    'KnowledgeSourceType',
    ...(['document', 'file', 'page', 'note', 'email', 'research', 'memory'] as const),
  );
const trust = () =>
  s
    .oneOf('KnowledgeTrust', 'owner', 'outside')
    .description(
      'Origin of the text. `owner`: you wrote or confirmed the text, or an agent that has read no content from outside wrote the text. `outside`: all other texts. After an agent has read an `outside` text, its calls with side effects need approval',
    );
export const knowledgeTag = () =>
  s
    .text(60)
    .normalize('NFC')
    .pattern(/^\S(.*\S)?$/, 'no leading or trailing space');
const tags = () => s.list(knowledgeTag(), 20).unique().label('KnowledgeTags');
const title = () => s.text(300).normalize('NFC').pattern(/\S/, 'non-blank text');
export const knowledgeText = () => s.text(1_000_000).pattern(/\S/, 'non-blank text');

/** Origin of an entry. Chunks, results and citations repeat it. */
const origin = {
  title: s.text(300),
  sourceType: sourceType(),
  sourceId: s
    .nullable(s.text(300))
    .description(
      'ID of the source document, file, page, research job or memory. For a note that an agent kept, ID of the tool call. `null` for a note that you wrote',
    ),
  uri: s.nullable(s.text(4000)).description('Address of the source. `null` if the source has none'),
  trust: trust(),
};

const entry = {
  id: s.id('entry'),
  orgId: s.orgId(),
  ...origin,
  tags: tags(),
  chunks: count().description('Number of chunks into which the text is divided for search'),
  chars: count().description('Length of the text, in characters'),
  language: s
    .nullable(s.text(10))
    .description('Detected language, as a two-letter code. `null` if no language was detected'),
  status: s.oneOf('KnowledgeStatus', 'indexing', 'ready', 'failed'),
  embeddedWith: s
    .nullable(s.text(200))
    .description('Model that created the vectors. `null` if the entry has no vectors'),
  error: s
    .nullable(s.anyText(2000))
    .description('Reason why indexing failed. `null` if indexing did not fail'),
  createdAt: s.time(),
  updatedAt: s.time(),
};
export const KnowledgeEntry = s.object('KnowledgeEntry', entry);
export type KnowledgeEntry = s.Static<typeof KnowledgeEntry>;

const chunkNumber = () => count().description('Number of the chunk within the entry, from 0');
const pageNumber = () =>
  s.nullable(count()).description('Page number in the source. `null` if the source has no pages');

const KnowledgeDetail = s.object('KnowledgeDetail', {
  ...entry,
  content: s.anyText(1_000_000).description('First 1,000,000 characters of the text'),
  truncated: s.boolean().description('Whether `content` is cut before the end of the text'),
});

const KnowledgeChunk = s.object('KnowledgeChunk', {
  entryId: s.id('entry'),
  chunk: chunkNumber(),
  ...origin,
  text: s.anyText(100_000),
  page: pageNumber(),
  heading: s
    .nullable(s.anyText(2000))
    .description('Headings above the chunk. `null` if there are none'),
  before: s
    .nullable(count())
    .description('Number of the previous chunk. `null` for the first chunk'),
  after: s.nullable(count()).description('Number of the next chunk. `null` for the last chunk'),
  chunks: count().description('Number of chunks in the entry'),
});

const NewNote = s.object('NewNote', {
  title: s.optional(title().description('Title. Defaults to the first line of the text')),
  text: knowledgeText(),
  tags: s.optional(tags()),
});
export type NewNote = s.Static<typeof NewNote>;

const KnowledgeChanges = s.ignoreReadOnly(
  s.object('KnowledgeChanges', { title: s.optional(title()), tags: s.optional(tags()) }).min(1),
  ...Object.keys(entry).filter((key) => key !== 'title' && key !== 'tags'),
  ...['content', 'truncated'],
);

const searchMode = () =>
  s
    .oneOf('KnowledgeMode', 'hybrid', 'keyword', 'semantic')
    .description(
      'Search mode. Defaults to `hybrid`, which combines keyword and semantic search. A reply names the mode that was used',
    );
const KnowledgeFilters = s.object('KnowledgeFilters', {
  sourceType: s.optional(s.list(sourceType(), 7).min(1).unique()),
  tags: s.optional(
    s
      .list(knowledgeTag(), 20)
      .min(1)
      .unique()
      .label('AllTags')
      .description('Tags that an entry must all have'),
  ),
  trust: s.optional(trust()),
  since: s.optional(s.moment().description('Earliest creation time')),
  until: s.optional(s.moment().description('Latest creation time')),
  entryIds: s.optional(s.list(s.id('entry'), 200).min(1).unique()),
});
const KnowledgeSearch = s.object('KnowledgeSearch', {
  query: s
    .text(2000)
    .pattern(/\S/, 'non-blank text')
    .description('Search words. `"quotes"` match a phrase; `-word` excludes a word'),
  mode: s.optional(searchMode()),
  filters: s.optional(KnowledgeFilters),
  limit: s.optional(s.integer(1, 50).description('Maximum number of results. Defaults to 10')),
});
export type KnowledgeSearch = s.Static<typeof KnowledgeSearch>;

const KnowledgeResult = s.object('KnowledgeResult', {
  entryId: s.id('entry'),
  chunk: chunkNumber(),
  ...origin,
  page: pageNumber(),
  snippet: s.anyText(2000).description('Part of the chunk around the matches'),
  highlights: s
    .list(s.list(count(), 2))
    .description('Start and end of each match in `snippet`, in UTF-16 code units'),
  score: s.number(0, 1).description('Relevance compared with the other results, from 0 to 1'),
  matched: s
    .list(s.oneOf('KnowledgeMatch', 'word', 'part', 'meaning'))
    .description('How the chunk matches the query: by a word, by part of a word, or by meaning'),
});

const KnowledgeResults = s.object('KnowledgeResults', {
  mode: searchMode(),
  degraded: s
    .nullable(s.anyText(1000))
    .description(
      'Reason why the search is limited, for example to keywords. `null` if the search is not limited',
    ),
  results: s.list(KnowledgeResult, 50),
  tookMs: s.number(0, 1e9).description('Duration of the search, in milliseconds'),
});
export type KnowledgeResults = s.Static<typeof KnowledgeResults>;

const KnowledgeQuestion = s.object('KnowledgeQuestion', {
  question: s.text(2000).pattern(/\S/, 'non-blank text'),
  filters: s.optional(KnowledgeFilters),
});

const KnowledgeAnswer = s.object('KnowledgeAnswer', {
  answer: s.anyText(100_000).description('Answer. `[n]` refers to the citation with that number'),
  citations: s.list(
    s.object('KnowledgeCitation', {
      n: count().description('Number of the citation, from 1'),
      entryId: s.id('entry'),
      chunk: chunkNumber(),
      ...origin,
      page: pageNumber(),
      quote: s.anyText(100_000),
      from: count().description('Start of the quote in the chunk, in UTF-16 code units'),
      to: count().description('End of the quote in the chunk, in UTF-16 code units'),
    }),
  ),
  model: s
    .nullable(s.text(200))
    .description(
      'Model that wrote the answer. `digest` if passages are quoted instead of a written answer. `null` if no passage was found',
    ),
  grounded: s
    .boolean()
    .description('Whether quotes that were found in your knowledge support every sentence'),
});
export type KnowledgeAnswer = s.Static<typeof KnowledgeAnswer>;

const KnowledgeIndex = s
  .object('KnowledgeIndex', {
    text: s.optional(knowledgeText()),
    title: s.optional(
      title().description('Title for `text`. Defaults to the first line of `text`'),
    ),
    url: s.optional(s.url(2048).description('Address of a web page to index')),
    documentId: s.optional(s.id('document')),
    path: s.optional(
      s
        .text(4096)
        .description('Absolute path of a file or folder on the machine that runs the daemon'),
    ),
    type: s.optional(s.oneOf('FolderType', 'file', 'directory')),
    patterns: s.optional(
      s
        .list(s.text(200).pattern(/\S/, 'non-blank text'), 100)
        .description(
          'Glob patterns of the files to index, such as `**/*.md`. `!` excludes files. Defaults to the earlier patterns of the folder, or to all files. Names that begin with a dot are skipped unless a pattern names them',
        ),
    ),
    watch: s.optional(
      s
        .boolean()
        .description(
          'Whether to index later changes of the folder. Defaults to the earlier value for the folder, or to `false`',
        ),
    ),
    tags: s.optional(tags()),
  })
  .xor('text', 'url', 'documentId', 'path')
  .with('title', 'text')
  .with('type', 'path')
  .with('patterns', 'path')
  .with('watch', 'path');
export type KnowledgeIndex = s.Static<typeof KnowledgeIndex>;

const KnowledgeStats = s.object('KnowledgeStats', {
  total: count().description('Number of entries'),
  chunks: count().description('Number of chunks of all entries'),
  chars: count().description('Length of all texts, in characters'),
  bySourceType: s.record('KnowledgeCounts').description('Number of entries by source type'),
  embedding: s.object('KnowledgeEmbedding', {
    model: s
      .nullable(s.text(200))
      .description('Model that creates vectors. `null` if none is available'),
    dimensions: s
      .nullable(count())
      .description(
        'Number of dimensions of a vector. `null` until a text has been embedded, and if no model is available',
      ),
    embedded: count().description('Number of chunks with vectors'),
    pending: count().description('Number of chunks that still need vectors'),
  }),
  modes: s.object('KnowledgeModes', {
    keyword: s.boolean(),
    semantic: s.boolean(),
    hybrid: s.boolean(),
    reason: s
      .nullable(s.anyText(1000))
      .description('Reason why a mode is unavailable or incomplete. `null` if all modes work'),
  }),
});
export type KnowledgeStats = s.Static<typeof KnowledgeStats>;

export const knowledge = contract({
  list: endpoint.get('/api/knowledge', {
    shared: 'member',
    summary: 'List knowledge entries',
    query: pageQuery('KnowledgeQuery', {
      sourceType: s.optional(sourceType()),
      tag: s.optional(knowledgeTag()),
      trust: s.optional(trust()),
      q: s.optional(s.text(200).description('Part of the title')),
      since: s.optional(s.moment().description('Earliest creation time')),
    }),
    reply: createPageSchema('entries', KnowledgeEntry),
  }),
  create: endpoint.post('/api/knowledge', {
    shared: 'admin',
    summary: 'Create a note in the knowledge base',
    example: { title: 'Staging', text: 'The staging server is argon.', tags: ['servers'] },
    body: NewNote,
    reply: KnowledgeEntry,
    status: 201,
  }),
  stats: endpoint.get('/api/knowledge/stats', {
    shared: 'member',
    summary: 'Get the size and search modes of your knowledge',
    reply: KnowledgeStats,
  }),
  search: endpoint.post('/api/knowledge/search', {
    shared: 'member',
    summary: 'Search your knowledge',
    readsOnly: true,
    example: { query: '"staging server" called -draft', limit: 5 },
    body: KnowledgeSearch,
    reply: KnowledgeResults,
  }),
  ask: endpoint.post('/api/knowledge/ask', {
    shared: 'member',
    summary: 'Answer a question from your knowledge',
    maxReplyMs: 300_000,
    example: { question: 'What is the staging server called?' },
    body: KnowledgeQuestion,
    reply: KnowledgeAnswer,
  }),
  index: endpoint.post('/api/knowledge/index', {
    shared: 'admin',
    summary: 'Index a text, page, document or folder',
    example: { text: 'All of the text.', title: 'A text' },
    body: KnowledgeIndex,
    needsPermission: true,
    reply: Operation,
    status: 202,
  }),
  get: endpoint.get('/api/knowledge/{id}', {
    shared: 'member',
    summary: 'Get a knowledge entry',
    reply: KnowledgeDetail,
  }),
  chunk: endpoint.get('/api/knowledge/{id}/chunks/{n}', {
    shared: 'member',
    summary: 'Get one text chunk of a knowledge entry by number',
    reply: KnowledgeChunk,
  }),
  update: endpoint.patch('/api/knowledge/{id}', {
    shared: 'admin',
    summary: 'Update a knowledge entry',
    example: { tags: ['servers', 'staging'] },
    body: KnowledgeChanges,
    reply: KnowledgeEntry,
  }),
  delete: endpoint.delete('/api/knowledge/{id}', {
    shared: 'admin',
    summary: 'Delete a knowledge entry',
  }),
});
