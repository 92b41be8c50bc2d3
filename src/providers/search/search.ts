import { BadUrl, EgressRefused, portOf } from '../../kernel/egress.js';
import { beginningOf } from '../../kernel/excerpt.js';
import { HttpFailure } from '../../kernel/failure.js';
import type { Http, Incoming } from '../../kernel/http.js';
import { parsedJson } from '../../kernel/jsonvalue.js';
import { type FoundPage, PROTOCOLS, type SearchProvider } from './protocols.js';

/** The failure of a search, as a sentence. */
export class SearchFailed extends Error {
  override name = 'SearchFailed';

  constructor(
    message: string,
    /** True if nothing was asked, because something is not set. */
    readonly isUnset = false,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** The search of the web, as the daemon is set up for it. */
export interface WebSearch {
  /** The name of the provider; null if none is set. */
  provider: SearchProvider | null;
  /** Finds pages, the best first. Throws SearchFailed, and the reason of the signal. */
  search(query: string, count: number, signal: AbortSignal): Promise<FoundPage[]>;
}

interface WebSearchDeps {
  http: Pick<Http, 'request'>;
  config: {
    /** The provider; null: SearXNG if there is an address, else none. */
    searchProvider: SearchProvider | null;
    /** The address, where it is another than the provider's own; SearXNG has none. */
    searchUrl: string | null;
    searchKey: string | null;
  };
  /** Returns the key where the settings have none; null without one. */
  key(): Promise<string | null>;
}

/** The message where no provider is set. */
export const NO_SEARCH =
  'Web search is not configured. An admin must set searchProvider (ADJUTANT_SEARCH_PROVIDER), or ' +
  'searchUrl (ADJUTANT_SEARCH_URL) to the address of a SearXNG instance';
const NO_KEY =
  'The search provider has no key. An admin must set searchKey (ADJUTANT_SEARCH_KEY), or store the ' +
  'key as the credential `search-key`';

/** Ours: the limits of a reply. */
const LIMITS = { maxBytes: 1024 * 1024, totalMs: 30_000 };
const MAX_TITLE = 300;
const MAX_URL = 2_000;
const MAX_SNIPPET = 1_000;

/** Creates the search of the web. */
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
          `The search provider returned status ${reply.status} without results`,
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
      // An admin has named the address. A key goes to its origin alone.
      allow: searchUrl === null ? [] : [`${to.hostname}:${portOf(to)}`],
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
  title: beginningOf(title, MAX_TITLE),
  url,
  snippet: beginningOf(snippet, MAX_SNIPPET),
});

const isPage = ({ url }: FoundPage): boolean => /^https?:\/\//.test(url) && url.length <= MAX_URL;
