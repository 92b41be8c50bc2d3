import { listAt, memberAt, textAt } from '../../kernel/jsonvalue.js';

export interface FoundPage {
  title: string;
  url: string;
  snippet: string;
}

interface SearchQuery {
  address: string;
  query: string;
  count: number;
  key: string;
}

interface SearchRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
}

interface SearchProtocol {
  /** `null` if every instance has its own address. */
  address: string | null;
  needsKey: boolean;
  request(search: SearchQuery): SearchRequest;
  /** Returns null if the reply has an unknown format. */
  read(reply: unknown): FoundPage[] | null;
}

export type SearchProvider = 'searxng' | 'brave' | 'tavily' | 'kagi' | 'exa';

const JSON_TYPE = 'application/json';

const postRequest = (
  url: string,
  body: Record<string, unknown>,
  headers: Record<string, string>,
): SearchRequest => ({
  method: 'POST',
  url,
  headers: { accept: JSON_TYPE, 'content-type': JSON_TYPE, ...headers },
  body: JSON.stringify(body),
});

const addQuery = (address: string, query: Record<string, string>): string => {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
};

const pagesAt =
  (path: string[], snippetOf: (result: unknown) => string) =>
  (reply: unknown): FoundPage[] | null => {
    if (!Array.isArray(memberAt(reply, ...path))) return null;
    return listAt(reply, ...path).map((result) => ({
      title: plain(textAt(result, 'title') ?? ''),
      url: textAt(result, 'url') ?? '',
      snippet: plain(snippetOf(result)),
    }));
  };

const createTextReader =
  (name: string) =>
  (result: unknown): string =>
    textAt(result, name) ?? '';

/** Exa returns highlights or the beginning of the text. */
const getHighlights = (result: unknown): string => {
  const highlights = listAt(result, 'highlights').filter((each) => typeof each === 'string');
  return highlights.length > 0 ? highlights.join(' … ') : (textAt(result, 'text') ?? '');
};

const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&nbsp;': ' ',
};

/** Removes highlighting marks. Some providers send HTML. */
const plain = (text: string): string =>
  text
    .replace(/<\/?(b|strong|em|mark)>/gi, '')
    .replace(/&(amp|lt|gt|quot|nbsp|#39|#x27);/g, (entity) => ENTITIES[entity] ?? entity);

const MAX_COUNT = 20;

const getResultCount = ({ count }: SearchQuery): number => Math.min(count, MAX_COUNT);

export const PROTOCOLS: Record<SearchProvider, SearchProtocol> = {
  searxng: {
    address: null,
    needsKey: false,
    request: ({ address, query }) => ({
      method: 'GET',
      url: addQuery(address, { q: query, format: 'json' }),
      headers: {},
    }),
    read: pagesAt(['results'], createTextReader('content')),
  },
  brave: {
    address: 'https://api.search.brave.com/res/v1/web/search',
    needsKey: true,
    request: (search) => ({
      method: 'GET',
      url: addQuery(search.address, {
        q: search.query,
        count: String(getResultCount(search)),
        text_decorations: 'false',
      }),
      headers: { accept: JSON_TYPE, 'x-subscription-token': search.key },
    }),
    // Without results, the reply has no `web`.
    read: (reply) =>
      textAt(reply, 'type') === 'search' && memberAt(reply, 'web') === undefined
        ? []
        : pagesAt(['web', 'results'], createTextReader('description'))(reply),
  },
  tavily: {
    address: 'https://api.tavily.com/search',
    needsKey: true,
    request: (search) =>
      postRequest(
        search.address,
        { query: search.query, max_results: getResultCount(search) },
        { authorization: `Bearer ${search.key}` },
      ),
    read: pagesAt(['results'], createTextReader('content')),
  },
  kagi: {
    address: 'https://kagi.com/api/v1/search',
    needsKey: true,
    request: (search) =>
      postRequest(
        search.address,
        { query: search.query, workflow: 'search', limit: getResultCount(search) },
        { authorization: `Bearer ${search.key}` },
      ),
    // Without results, `data` has no `search`.
    read: (reply) =>
      memberAt(reply, 'data') !== undefined && memberAt(reply, 'data', 'search') === undefined
        ? []
        : pagesAt(['data', 'search'], createTextReader('snippet'))(reply),
  },
  exa: {
    address: 'https://api.exa.ai/search',
    needsKey: true,
    request: (search) =>
      postRequest(
        search.address,
        {
          query: search.query,
          type: 'auto',
          numResults: getResultCount(search),
          contents: { highlights: true },
        },
        { 'x-api-key': search.key },
      ),
    read: pagesAt(['results'], getHighlights),
  },
};
