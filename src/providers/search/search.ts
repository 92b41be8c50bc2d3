import { BadUrl, EgressRefused, getUrlPort } from '../../kernel/egress.js';
import { truncateText } from '../../kernel/excerpt.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http, Incoming } from '../../kernel/http.js';
import { parsedJson } from '../../kernel/jsonvalue.js';
import { type FoundPage, PROTOCOLS, type SearchProvider } from './protocols.js';

export class SearchFailed extends Error {
  override name = 'SearchFailed';

  constructor(
    message: string,
    /** Whether no request was sent because a setting is missing. */
    readonly isUnset = false,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export interface WebSearch {
  provider: SearchProvider | null;
  /** Throws SearchFailed, or the reason of the signal. */
  search(query: string, count: number, signal: AbortSignal): Promise<FoundPage[]>;
}

interface WebSearchDeps {
  http: Pick<Http, 'request'>;
  config: {
    /** `null` selects SearXNG if an address is set. */
    searchProvider: SearchProvider | null;
    /** Replaces the default address of the provider. SearXNG has no default. */
    searchUrl: string | null;
    searchKey: string | null;
  };
  /** Returns the key from the vault, or null. */
  key(): Promise<string | null>;
}

export const NO_SEARCH =
  'Web search is not configured. An admin must set searchProvider (ADJUTANT_SEARCH_PROVIDER), or ' +
  'searchUrl (ADJUTANT_SEARCH_URL) to the address of a SearXNG instance';
const NO_KEY =
  'The search provider has no key. An admin must set searchKey (ADJUTANT_SEARCH_KEY), or store the ' +
  'key as the credential `search-key`';

const LIMITS = { maxBytes: 1024 * 1024, totalMs: 30_000 };
const MAX_TITLE = 300;
const MAX_URL = 2_000;
const MAX_SNIPPET = 1_000;

export const createWebSearch = (deps: WebSearchDeps): WebSearch => {
  const { searchProvider, searchUrl } = deps.config;
  const provider = searchProvider ?? (searchUrl === null ? null : 'searxng');
  return {
    provider,
    search: async (query, count, signal) => {
      if (provider === null) throw new SearchFailed(NO_SEARCH, true);
      const reply = await replyTo(deps, provider, { query, count, signal });
      const found = reply.status === 200 ? parsedJson(reply.body.toString()) : undefined;
      const pages = found === undefined ? null : PROTOCOLS[provider].read(found);
      if (!pages) {
        throw new SearchFailed(
          `The search provider returned status ${reply.status} without results. Check the search settings`,
        );
      }
      return pages.map(cut).filter(isPage).slice(0, count);
    },
  };
};

const replyTo = async (
  { http, config, key }: WebSearchDeps,
  provider: SearchProvider,
  { query, count, signal }: { query: string; count: number; signal: AbortSignal },
): Promise<Incoming> => {
  const protocol = PROTOCOLS[provider];
  const { searchUrl, searchKey } = config;
  const address = searchUrl ?? protocol.address;
  const secret = protocol.needsKey ? (searchKey ?? (await key())) : null;
  if (protocol.needsKey && secret === null) throw new SearchFailed(NO_KEY, true);
  if (address === null) throw new SearchFailed(NO_SEARCH, true);
  const out = protocol.request({ address, query, count, key: secret ?? '' });
  const to = new URL(out.url);
  try {
    return await http.request({
      ...out,
      signal,
      // The admin has configured the address. A key is sent only to its origin.
      allow: searchUrl === null ? [] : [`${to.hostname}:${getUrlPort(to)}`],
      isBound: protocol.needsKey,
      isDecoded: true,
      ...LIMITS,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure || error instanceof EgressRefused || error instanceof BadUrl) {
      throw new SearchFailed(
        `The search provider could not be reached: ${error.message}`,
        false,
        error,
      );
    }
    throw error;
  }
};

const cut = ({ title, url, snippet }: FoundPage): FoundPage => ({
  title: truncateText(title, MAX_TITLE),
  url,
  snippet: truncateText(snippet, MAX_SNIPPET),
});

const isPage = ({ url }: FoundPage): boolean => /^https?:\/\//.test(url) && url.length <= MAX_URL;
