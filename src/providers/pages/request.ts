import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../kernel/clock.js';
import { type Cookies, createCookies } from '../../kernel/cookies.js';
import { BadUrl, EgressRefused } from '../../kernel/egress.js';
import { HttpFailure } from '../../kernel/failure.js';
import { QueueFull } from '../../kernel/fairqueue.js';
import type { Http, Incoming, Outgoing } from '../../kernel/http.js';
import { createPace } from '../../kernel/pace.js';
import { tooManyRedirects } from '../../kernel/redirect.js';
import { version } from '../../version.js';
import type { PageSource } from './page.js';
import { refreshTarget } from './refresh.js';

const LIMITS = { maxBytes: 10 * 1024 * 1024, totalMs: 20_000 };
const MAX_REDIRECTS = 5;
const ACCEPT =
  'text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.8, ' +
  'application/rss+xml;q=0.8, application/atom+xml;q=0.8, */*;q=0.1';

type PageRequest = Pick<Outgoing, 'url' | 'signal' | 'isBound' | 'isExact' | 'enoughBytes'>;

const sendRequest = (
  http: Pick<Http, 'request'>,
  { url, signal, isBound, isExact, enoughBytes }: PageRequest,
  bounds: { redirects: number; totalMs: number; cookies: Cookies },
): Promise<Incoming> =>
  http.request({
    method: 'GET',
    url,
    headers: { accept: ACCEPT, 'user-agent': `adjutant/${version} (reads a page for a person)` },
    signal,
    isDecoded: true,
    ...(isBound && { isBound }),
    ...(isExact && { isExact }),
    ...(enoughBytes !== undefined && { enoughBytes }),
    maxBytes: LIMITS.maxBytes,
    ...bounds,
  });

/**
 * Follows redirects and `meta` refreshes within the time limit of one request. Throws the errors of
 * `http`.
 */
export const requestPage = async (
  http: Pick<Http, 'request'>,
  request: PageRequest,
): Promise<Incoming> => {
  const cookies = createCookies();
  const deadline = performance.now() + LIMITS.totalMs;
  let { url } = request;
  let isReloaded = false;
  for (let count = 0; ; count++) {
    const totalMs = Math.max(1, deadline - performance.now());
    const bounds = { redirects: MAX_REDIRECTS, totalMs, cookies };
    const reply = await sendRequest(http, { ...request, url }, bounds);
    const next = findRefreshTarget(reply, isReloaded);
    if (!next || reply.notFollowed !== undefined) return reply;
    const from = new URL(reply.url);
    const isHeldBack = request.isExact || (request.isBound && next.origin !== from.origin);
    if (isHeldBack) return { ...reply, notFollowed: next.href };
    if (count === MAX_REDIRECTS) throw tooManyRedirects(from, false);
    isReloaded ||= isSamePage(next, reply.url);
    url = next.href;
  }
};

/** A refresh to the same address is followed once, because the page may have set a cookie. */
const findRefreshTarget = (reply: Incoming, isReloaded: boolean): URL | null => {
  const { status, headers, body, url } = reply;
  if (status >= 300) return null;
  const source = { body, contentType: headers['content-type'] ?? '', url };
  const target = refreshTarget(source, headers.refresh);
  if (!target || !isSamePage(target, url)) return target;
  return headers['set-cookie'] === undefined || isReloaded ? null : target;
};

const isSamePage = (target: URL, url: string): boolean =>
  target.href.replace(/#.*$/, '') === url.replace(/#.*$/, '');

export interface ReceivedPage extends PageSource {
  status: number;
}

export class PageFailed extends Error {
  override name = 'PageFailed';

  constructor(
    message: string,
    /** `null` without a reply. */
    readonly status: number | null,
    readonly url: string | null,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export interface PageRequester {
  userId: string;
  signal: AbortSignal;
  enoughBytes?: number;
  /**
   * Called before each request, including redirects. Throws PageFailed to refuse it. With it, each
   * request waits for its own turn.
   */
  refuse?(url: string): Promise<void>;
}

export interface PageClientDeps {
  http: Pick<Http, 'request'>;
  clock: Clock;
}

/** Minimum interval per host, and the maximum number of waiting requests. */
const MIN_INTERVAL_MS = 1000;
const MAX_WAITING = 100;

/**
 * Each host receives at most one request per second, and users take turns. Throws PageFailed, or
 * the reason of the signal as soon as it is aborted.
 */
export const createPageClient = ({ http, clock }: PageClientDeps) => {
  const pause = (ms: number) => clock.wait(ms, undefined, { ref: false });
  const pace = createPace({ everyMs: MIN_INTERVAL_MS, waiting: MAX_WAITING, wait: pause });
  const turn = async (host: string, { userId, signal }: PageRequester): Promise<void> => {
    try {
      await pace.take(host, async () => undefined, { asker: userId, signal });
    } catch (error) {
      if (!(error instanceof QueueFull)) throw error;
      throw new PageFailed(
        `Too many requests to ${host} are waiting. Try again later`,
        null,
        null,
        error,
      );
    }
  };
  const getRefusable = async (
    url: string,
    asker: PageRequester,
    refuse: (url: string) => Promise<void>,
  ): Promise<ReceivedPage> => {
    const bounds = { redirects: 0, totalMs: LIMITS.totalMs, cookies: createCookies() };
    let at = url;
    let isReloaded = false;
    for (let count = 0; ; count++) {
      await refuse(at);
      await turn(new URL(at).host, asker);
      const reply = await orFailed(sendRequest(http, { ...asker, url: at }, bounds), asker.signal);
      const next: string | undefined =
        getRedirectTarget(reply) ?? findRefreshTarget(reply, isReloaded)?.href;
      if (!next) return received(reply);
      if (count === MAX_REDIRECTS)
        throw new PageFailed(`${url} redirects more than ${MAX_REDIRECTS} times`, null, at);
      isReloaded ||= isSamePage(new URL(next), at) && reply.status < 300;
      at = next;
    }
  };
  return async (url: string, asker: PageRequester): Promise<ReceivedPage> => {
    const { signal, enoughBytes, refuse } = asker;
    if (refuse) return getRefusable(url, asker, refuse);
    await turn(new URL(url).host, asker);
    return received(await orFailed(requestPage(http, { url, signal, enoughBytes }), signal));
  };
};

const getRedirectTarget = ({ status, headers: { location }, url }: Incoming): string | null => {
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  if (!isRedirect || location === undefined || !URL.canParse(location, url)) return null;
  const { protocol, href } = new URL(location, url);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
};

const received = ({ status, headers, body, url }: Incoming): ReceivedPage => {
  if (status >= 300) {
    const reason = STATUS_CODES[status];
    const named = reason === undefined ? String(status) : `${status} (${reason})`;
    throw new PageFailed(`${url} answered ${named}`, status, url);
  }
  return { status, body, url, contentType: headers['content-type'] ?? '' };
};

export type PageClient = ReturnType<typeof createPageClient>;

const orFailed = async (reply: Promise<Incoming>, signal: AbortSignal): Promise<Incoming> => {
  try {
    return await reply;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure || error instanceof EgressRefused || error instanceof BadUrl) {
      throw new PageFailed(error.message, null, null, error);
    }
    throw error;
  }
};
