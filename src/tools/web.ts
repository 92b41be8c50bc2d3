import * as s from '../kernel/contract/schema.js';
import { truncateText } from '../kernel/excerpt.js';
import { type PageText, PageUnreadable } from '../providers/pages/page.js';
import type { ReadPage } from '../providers/pages/pageworker.js';
import { requestPage } from '../providers/pages/request.js';
import { NO_SEARCH, SearchFailed, type WebSearch } from '../providers/search/search.js';
import { type Requester, requestForTool } from './http.js';
import { offsetInput, textPart } from './textpart.js';
import {
  defineTool,
  type Tool,
  type ToolContext,
  ToolFailed,
  type ToolGroup,
  ToolRefused,
} from './tool.js';

const MAX_TEXT = 128 * 1024;
const MAX_TITLE = 300;

const ReadInput = s.object('WebReadInput', {
  url: s.url(8_192).description('http or https address'),
  offset: offsetInput(),
});
const SearchInput = s.object('WebSearchInput', {
  query: s.text(1_000).description('Search terms'),
  count: s.optional(s.integer(1, 20).description('Number of results. Defaults to 10.')),
});

const traits = { skillId: 'web', sideEffects: false, once: false, sendsOut: true, outside: true };

interface WebToolsDeps {
  http: Requester;
  search: WebSearch;
  readPage: ReadPage;
}

export const webTools = ({ http, search, readPage }: WebToolsDeps): ToolGroup => ({
  skillId: 'web',
  description: 'Web pages and web search',
  tools: [readTool(http, readPage), searchTool(search)],
});

const readTool = (http: Requester, readPage: ReadPage): Tool =>
  defineTool({
    ...traits,
    name: 'read',
    description:
      'Read a web page, feed, PDF or office file as text. Returns { url, status, title, text }. ' +
      'Hidden text is left out. Long text is cut: `truncated: { missingChars, nextOffset }`. Repeat ' +
      'the call with `offset: nextOffset` to read on. `note` tells what the text lacks. Private ' +
      'addresses are refused. If a redirect is not followed, `notFollowed` is its address. Read it ' +
      'if you need it.',
    input: ReadInput,
    run: async ({ url, offset }, context, tool) => {
      const { signal, isApproved, isByGrant } = context;
      const reply = await requestForTool(tool, () =>
        requestPage(http, {
          url,
          signal,
          ...(isApproved && { isBound: true }),
          ...(isByGrant && { isExact: true }),
        }),
      );
      const page = await readable(readPage, reply, context);
      const title = page.title ?? '';
      // Redacted before it is cut.
      const redacted = context.redact ? await context.redact(title) : title;
      const { url: readAt, status, notFollowed } = reply;
      const moved = notFollowed === undefined ? {} : { notFollowed };
      const missing = page.note === null ? {} : { note: page.note };
      const beside = {
        ...{ url: readAt, status, title: truncateText(redacted, MAX_TITLE) },
        ...moved,
        ...missing,
      };
      const paging = { key: 'text', beside, offset, most: MAX_TEXT, isRepeatable: true };
      return textPart(page.content ?? '', paging, context);
    },
  });

type WebReply = Awaited<ReturnType<Requester['request']>>;

/** All visible text, with the addresses of links. */
const WISH = { format: 'text', isWhole: true, hasAddresses: true, most: 10_000_000 } as const;

const readable = async (
  readPage: ReadPage,
  { headers, body, url }: WebReply,
  context: ToolContext,
): Promise<PageText> => {
  const source = { contentType: headers['content-type'] ?? '', body, url };
  try {
    const page = await readPage(source, WISH, context);
    if (page.content !== null) return page;
    throw new PageUnreadable(
      `is not text. The content type is ${source.contentType.slice(0, 100)}`,
    );
  } catch (error) {
    if (!(error instanceof PageUnreadable)) throw error;
    throw new ToolFailed(error.describe(url), false, error);
  }
};

const searchTool = ({ provider, search }: WebSearch): Tool =>
  defineTool({
    ...traits,
    name: 'search',
    description:
      'Search the web. Returns { results: [{ title, url, snippet }] }. Read a result with web.read.',
    input: SearchInput,
    unavailable: provider === null ? NO_SEARCH : null,
    run: async ({ query, count = 10 }, { signal }) => {
      try {
        return { results: await search(query, count, signal) };
      } catch (error) {
        if (!(error instanceof SearchFailed)) throw error;
        if (error.isUnset) throw new ToolRefused(error.message);
        throw new ToolFailed(error.message, false, error);
      }
    },
  });
