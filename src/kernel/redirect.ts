import type { Dispatcher } from 'undici';
import type { Clock } from './clock.js';
import { type Cookies, createCookies } from './cookies.js';
import { BadUrl, type Egress, EgressRefused, parseUrl } from './egress.js';
import {
  dispatchRequest,
  type HttpReply,
  type HttpRequest,
  type RawHttpReply,
} from './exchange.js';
import { HttpFailure } from './failure.js';

interface RedirectedRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export const prepareRequest = ({
  method,
  url,
  headers = {},
  body,
}: RedirectedRequest): HttpRequest => {
  const hop = {
    method: method.toUpperCase(),
    url: parseUrl(url),
    headers: { 'user-agent': 'adjutant', ...ownHeaders(headers) },
    body: body ?? null,
  };
  // CONNECT would turn the target into a proxy, behind which no address is checked.
  if (hop.method !== 'CONNECT') return hop;
  throw new HttpFailure('invalid_request', { host: hop.url.hostname, effectBegan: false });
};

/** Removes headers for routing and framing, which could split a message in two. */
const ownHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => !ofConnection.test(name)),
  );

const ofConnection =
  /^(host|connection|content-length|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** In milliseconds and bytes. */
export interface CallLimits {
  /** Per hop, until the first byte of the body or the end of a reply without one. */
  firstByteMs: number;
  silenceMs: number;
  totalMs: number;
  maxBytes: number;
  /** With 0, a redirect is returned like any other reply. */
  redirects: number;
}

interface Bounds {
  clock: Clock;
  agent: Dispatcher;
  egress: Pick<Egress, 'check'>;
  limits: CallLimits;
  isBound?: boolean | undefined;
  isExact?: boolean | undefined;
  keepsMethod?: boolean | undefined;
  keepsTls?: boolean | undefined;
  signal?: AbortSignal | null;
  cookies?: Cookies | undefined;
}

interface FinalReply extends HttpReply {
  url: URL;
  notFollowed?: URL;
}

/**
 * Every hop is checked like the first, and gets the cookies of earlier hops. Errors after the first
 * hop state that an effect may have begun. Throws EgressRefused or HttpFailure.
 */
export const followRedirects = async (first: HttpRequest, bounds: Bounds): Promise<FinalReply> => {
  const isBound = bounds.isBound === true || first.body !== null;
  const { isExact, keepsMethod, limits, cookies = createCookies() } = bounds;
  const { redirects, totalMs } = limits;
  const since = performance.now();
  let hop = first;
  for (let count = 0; ; count++) {
    const sent = withCookies(hop, cookies);
    const leftMs = count === 0 ? totalMs : totalMs - (performance.now() - since);
    const { setCookies, ...reply } = await send(sent, bounds, leftMs).catch((error: unknown) => {
      throw count === 0 ? error : afterEffect(error);
    });
    if (bounds.cookies || isRedirect(reply)) await cookies.keep(hop.url, setCookies);
    if (redirects === 0 || !isRedirect(reply)) return { ...reply, url: hop.url };
    const notFollowed = blockedTarget(hop, reply, { isBound, isExact, keepsMethod });
    if (notFollowed) return { ...reply, url: hop.url, notFollowed };
    reply.body.cancel();
    if (count === redirects) {
      throw tooManyRedirects(hop.url, setCookies.length > 0 && cookies.headerFor(hop.url) === '');
    }
    const next = redirected(hop, reply);
    if (bounds.keepsTls) refusePlain(hop.url, next.url);
    hop = next;
  }
};

const withCookies = (hop: HttpRequest, cookies: Cookies): HttpRequest => {
  const kept = cookies.headerFor(hop.url);
  if (kept === '') return hop;
  const { cookie: own } = hop.headers;
  return { ...hop, headers: { ...hop.headers, cookie: own ? `${own}; ${kept}` : kept } };
};

const send = async (hop: HttpRequest, bounds: Bounds, totalMs: number): Promise<RawHttpReply> => {
  const { agent, egress, limits, signal, clock } = bounds;
  egress.check(hop.url);
  return dispatchRequest(agent, hop, { ...limits, totalMs, signal, clock });
};

const afterEffect = (error: unknown): unknown => {
  if (error instanceof EgressRefused) return new EgressRefused(error.host, error.why, true);
  if (!(error instanceof HttpFailure)) return error;
  return new HttpFailure(error.kind, { host: error.host, effectBegan: true, cause: error.cause });
};

export const tooManyRedirects = ({ hostname }: URL, wantsCookie: boolean): HttpFailure => {
  const detail = wantsCookie ? 'it sets a cookie that is invalid for its host' : undefined;
  return new HttpFailure('too_many_redirects', { host: hostname, effectBegan: true, detail });
};

const refusePlain = (from: URL, to: URL): void => {
  if (from.protocol !== 'https:' || to.protocol === 'https:') return;
  const cause = new BadUrl(`the host redirects from https to plain http: ${to.origin}`);
  throw new HttpFailure('bad_response', { host: from.hostname, effectBegan: true, cause });
};

type RedirectHead = Pick<HttpReply, 'status' | 'headers'>;

const isRedirect = ({ status, headers }: RedirectHead): boolean =>
  [301, 302, 303, 307, 308].includes(status) && headers.location !== undefined;

/**
 * RFC 9110, 15.4. Another origin gets no headers that may contain a secret, and redirecting back
 * does not restore them.
 */
const redirected = (
  hop: HttpRequest,
  { status, headers: { location = '' } }: RedirectHead,
): HttpRequest => {
  const url = target(hop.url, location);
  const headers =
    url.origin === hop.url.origin
      ? hop.headers
      : filtered(hop.headers, (name) => harmless.test(name));
  if (!becomesGet(status, hop.method)) return { ...hop, url, headers };
  return {
    method: 'GET',
    url,
    headers: filtered(headers, (name) => !ofBody.test(name)),
    body: null,
  };
};

const blockedTarget = (
  hop: HttpRequest,
  head: RedirectHead,
  { isBound, isExact, keepsMethod }: Pick<Bounds, 'isBound' | 'isExact' | 'keepsMethod'>,
): URL | null => {
  if (isExact) return targetIn(hop, head);
  if (keepsMethod && hop.body !== null && becomesGet(head.status, hop.method))
    return targetIn(hop, head);
  return isBound ? otherOriginTarget(hop, head) : null;
};

export const otherOriginTarget = (hop: HttpRequest, head: RedirectHead): URL | null => {
  const to = targetIn(hop, head);
  return to?.origin === hop.url.origin ? null : to;
};

const targetIn = (
  { url }: HttpRequest,
  { headers: { location = '' } }: RedirectHead,
): URL | null => (URL.canParse(location, url.href) ? new URL(location, url) : null);

const harmless =
  /^(accept|accept-encoding|accept-language|content-type|content-language|if-range|range|user-agent)$/;
const ofBody = /^content-/;

const target = (from: URL, location: string): URL => {
  try {
    return parseUrl(URL.canParse(location, from.href) ? new URL(location, from).href : location);
  } catch (cause) {
    if (!(cause instanceof BadUrl)) throw cause;
    throw new HttpFailure('bad_response', { host: from.hostname, effectBegan: true, cause });
  }
};

const becomesGet = (status: number, method: string): boolean =>
  status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';

const filtered = (headers: Record<string, string>, isKept: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => isKept(name)));
