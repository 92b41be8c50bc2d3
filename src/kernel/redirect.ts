import { BadUrl, parseUrl } from './egress.js';
import { HttpFailure } from './failure.js';

/** One request, ready to be sent. Header names are in lower case. */
export interface Hop {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string | Buffer | null;
}

interface RedirectedRequest {
  method: string;
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/**
 * Prepares a request. Throws BadUrl, or HttpFailure if a client like this must not use the method.
 */
export const hopOf = ({ method, url, headers = {}, body }: RedirectedRequest): Hop => {
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

/**
 * Removes the headers that state where a message goes and where it ends: a stray one can split it
 * in two.
 */
const ownHeaders = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => !ofConnection.test(name)),
  );

const ofConnection =
  /^(host|connection|content-length|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** The part of a reply that decides a redirect. */
interface Head {
  status: number;
  headers: Record<string, string>;
}

export const isRedirect = ({ status, headers }: Head): boolean =>
  [301, 302, 303, 307, 308].includes(status) && headers.location !== undefined;

/**
 * Returns the request to which a redirect leads (RFC 9110, 15.4). Another origin gets none of the
 * headers that may hold a secret, under any name, and a further redirect back does not restore
 * them.
 */
export const redirected = (hop: Hop, { status, headers: { location = '' } }: Head): Hop => {
  const url = target(hop.url, location);
  const headers = url.origin === hop.url.origin ? hop.headers : only(harmless, hop.headers);
  if (!becomesGet(status, hop.method)) return { ...hop, url, headers };
  return { method: 'GET', url, headers: without(ofBody, headers), body: null };
};

/**
 * Returns the target of a redirect if it is not the origin that the request was meant for,
 * otherwise null.
 */
export const elsewhere = ({ url }: Hop, { headers: { location = '' } }: Head): URL | null => {
  const to = URL.canParse(location, url.href) ? new URL(location, url) : null;
  return to && isAnother(url, to) ? to : null;
};

/**
 * True if the origin changes. From http to https, each on its usual port, the same host replies.
 */
const isAnother = (from: URL, to: URL): boolean => {
  const isUpgrade =
    from.protocol === 'http:' &&
    to.protocol === 'https:' &&
    from.hostname === to.hostname &&
    from.port === '' &&
    to.port === '';
  return from.origin !== to.origin && !isUpgrade;
};

const harmless = /^(accept|accept-language|content-type|content-language|user-agent)$/;
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

const only = (names: RegExp, headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));

const without = (names: RegExp, headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.test(name)));
