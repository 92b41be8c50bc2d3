import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createHttp, type Http } from '../../src/kernel/http.js';
import type { SearchProvider } from '../../src/providers/search/protocols.js';
import { createWebSearch } from '../../src/providers/search/search.js';
import { type Listening, listen } from '../kernel/listen.js';

export const lab = Lab.script();
const { describe, it, before, after, beforeEach } = lab;

const PAGE = { title: 'A & B', url: 'https://example.org/a' };
const RESULT = [{ ...PAGE, snippet: 'it is here' }];

/** The reply of each provider, and the request that it must have got. */
const WIRE: Record<SearchProvider, { reply: object; empty: object; asked: object }> = {
  searxng: {
    reply: {
      query: 'a "b"',
      number_of_results: 0,
      results: [{ ...PAGE, content: 'it is here', engine: 'x' }],
    },
    empty: { query: 'a "b"', number_of_results: 0, results: [] },
    asked: { method: 'GET', path: '/search?lang=en&q=a+%22b%22&format=json', body: null },
  },
  brave: {
    reply: {
      type: 'search',
      query: { original: 'a "b"' },
      web: {
        type: 'search',
        results: [{ ...PAGE, title: 'A &amp; B', description: 'it is <strong>here</strong>' }],
      },
    },
    empty: { type: 'search', query: { original: 'a "b"' } },
    asked: {
      method: 'GET',
      path: '/search?lang=en&q=a+%22b%22&count=5&text_decorations=false',
      key: { 'x-subscription-token': 'k3y' },
      body: null,
    },
  },
  tavily: {
    reply: {
      query: 'a "b"',
      answer: null,
      results: [{ ...PAGE, content: 'it is here', score: 0.9, raw_content: null }],
      response_time: 1,
    },
    empty: { query: 'a "b"', results: [] },
    asked: {
      method: 'POST',
      path: '/search?lang=en',
      key: { authorization: 'Bearer k3y' },
      body: { query: 'a "b"', max_results: 5 },
    },
  },
  kagi: {
    reply: {
      meta: { trace: 't', node: 'us', ms: 12 },
      data: {
        search: [{ ...PAGE, snippet: 'it is <b>here</b>', time: '2026-01-02T03:04:05Z' }],
        related_search: [{ url: 'x', title: 'y' }],
      },
    },
    empty: { meta: { trace: 't' }, data: {} },
    asked: {
      method: 'POST',
      path: '/search?lang=en',
      key: { authorization: 'Bearer k3y' },
      body: { query: 'a "b"', workflow: 'search', limit: 5 },
    },
  },
  exa: {
    reply: {
      requestId: 'r',
      resolvedSearchType: 'auto',
      results: [{ ...PAGE, id: PAGE.url, author: null, highlights: ['it is here'] }],
    },
    empty: { requestId: 'r', results: [] },
    asked: {
      method: 'POST',
      path: '/search?lang=en',
      key: { 'x-api-key': 'k3y' },
      body: { query: 'a "b"', type: 'auto', numResults: 5, contents: { highlights: true } },
    },
  },
};

describe('createWebSearch', () => {
  let http: Http;
  let server: Listening;
  let status = 200;
  let reply = '';

  before(async () => {
    server = await listen((_, response) => response.writeHead(status).end(reply));
    http = createHttp({ allow: [] });
  });
  after(async () => {
    await http.close();
    await server.close();
  });
  beforeEach(() => {
    status = 200;
    server.got.length = 0;
  });

  const searchWith = (
    searchProvider: SearchProvider | null,
    searchKey: string | null = 'k3y',
    searchUrl: string | null = `${server.origin}/search?lang=en`,
  ) => {
    const config = { searchProvider, searchUrl, searchKey };
    const { search } = createWebSearch({ http, config, key: async () => null });
    return search('a "b"', 5, new AbortController().signal);
  };
  const failureOf = async (work: Promise<unknown>) =>
    work.then(
      () => null,
      ({ name, message, isUnset }) => [name, message, isUnset],
    );

  for (const [name, { reply: given, empty, asked }] of Object.entries(WIRE)) {
    const provider = name as SearchProvider;
    it(`asks ${name} in its own words`, async () => {
      reply = JSON.stringify(given);
      expect(await searchWith(provider)).to.equal(RESULT);
      const [{ method, path, headers, body } = { method: '', path: '', headers: {}, body: '' }] =
        server.got;
      const { key, ...request } = { key: {}, ...asked };
      expect({ method, path, body: body === '' ? null : JSON.parse(body) }).to.equal(request);
      expect(headers).to.include(key);
      reply = JSON.stringify(empty);
      expect(await searchWith(provider)).to.equal([]);
    });
  }

  it('says what was answered in place of results', async () => {
    const providers = Object.keys(WIRE) as SearchProvider[];
    for (const provider of providers) {
      for (const [code, text] of [
        [200, '<html>'],
        [200, '{"error":"x"}'],
        [429, '{"results":[]}'],
      ] as const) {
        [status, reply] = [code, text];
        expect(await failureOf(searchWith(provider)), `${provider} ${code}`).to.equal([
          'SearchFailed',
          `The search provider returned status ${code} without results. Check the search settings`,
          false,
        ]);
      }
    }
  });

  it('asks nothing without a provider or without a key', async () => {
    expect((await failureOf(searchWith(null, null, null)))?.[2]).to.be.true();
    const [, message, isUnset] = (await failureOf(searchWith('kagi', null))) ?? [];
    expect([isUnset, server.got.length]).to.equal([true, 0]);
    expect(message).to.match(/ADJUTANT_SEARCH_KEY.*`search-key`/);
  });

  it('returns no address that is none of the web', async () => {
    const results = ['javascript:alert(1)', 'file:///etc/passwd', 'https://example.org/a', ''];
    reply = JSON.stringify({ results: results.map((url) => ({ url })) });
    expect((await searchWith('searxng')).map(({ url }) => url)).to.equal(['https://example.org/a']);
  });
});
