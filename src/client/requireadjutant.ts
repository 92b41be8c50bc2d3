import { Unreachable } from './errors.js';
import { getErrorCode, isCertificateError, protocolMismatch } from './exchange.js';
import type { FetchLike, FetchResponse } from './send.js';

const HTTPS_WANTED = /HTTP request (was sent )?to (an )?HTTPS/i;

/** A proxy or the HTTP parser may send this status. */
const isBefore = (status: number): boolean =>
  [400, 408, 413, 429, 431].includes(status) || status >= 500;

/**
 * Throws Unreachable if the server is not Adjutant. Replies of the daemon have a request ID; if a
 * proxy removes it, the health endpoint decides.
 */
export const requireAdjutant =
  (fetch: FetchLike): FetchLike =>
  async (url, sent) => {
    const response = await fetch(url, sent).catch(async (error: unknown) => {
      throw (await schemeError(fetch, url, sent.signal, error)) ?? error;
    });
    if (response.headers.get('x-request-id') !== null) return response;
    const { origin } = new URL(url);
    if (response.status === 400 && url.startsWith('http:')) return unlessHttps(response, origin);
    if (isBefore(response.status)) return response;
    const elsewhere = findRedirectOrigin(response, url);
    if (elsewhere !== null) {
      throw new Unreachable(origin, `the server redirects to ${elsewhere}. Use that address`);
    }
    if (await isAdjutant(fetch, origin, sent.signal)) return response;
    throw new Unreachable(origin, NOT_ADJUTANT);
  };

/** A server that uses https drops a request with http, or replies with bytes that are not http. */
const schemeError = async (
  fetch: FetchLike,
  url: string,
  signal: AbortSignal,
  error: unknown,
): Promise<Unreachable | null> => {
  const isDropped = error instanceof TypeError && /^(ECONNRESET|HPE_)/.test(getErrorCode(error));
  if (!isDropped || !url.startsWith('http:')) return null;
  const { origin } = new URL(url);
  const reason = await wrongSchemeReason(fetch, origin, signal);
  return reason === null ? null : new Unreachable(origin, reason);
};

/** Null unless the server uses http for an https address, or the other way round. */
export const wrongSchemeReason = async (
  fetch: FetchLike,
  url: string,
  signal: AbortSignal,
): Promise<string | null> => {
  const { origin } = new URL(url);
  const meant = origin.replace(/^http:/, 'https:');
  const error = await fetch(`${meant}/health`, { method: 'GET', headers: {}, signal }).then(
    () => null,
    (error: unknown) => error,
  );
  const code = error instanceof TypeError ? getErrorCode(error) : '';
  if (origin === meant) {
    return error instanceof TypeError ? protocolMismatch(origin, code, error.cause) : null;
  }
  return error === null || isCertificateError(code) ? requiresHttps(meant) : null;
};

const requiresHttps = (meant: string): string => `the server requires https. Use ${meant}`;

export const NOT_ADJUTANT = 'the server at this address is not Adjutant';

const unlessHttps = async (response: FetchResponse, origin: string): Promise<FetchResponse> => {
  const text = await response.text();
  if (HTTPS_WANTED.test(text)) {
    const meant = origin.replace(/^http:/, 'https:');
    throw new Unreachable(origin, requiresHttps(meant));
  }
  return { ...response, text: async () => text };
};

const findRedirectOrigin = ({ status, headers }: FetchResponse, url: string): string | null => {
  const location = status >= 300 && status < 400 ? headers.get('location') : null;
  if (location === null || !URL.canParse(location, url)) return null;
  const { origin } = new URL(location, url);
  return origin === new URL(url).origin || origin === 'null' ? null : origin;
};

const isAdjutant = async (
  fetch: FetchLike,
  origin: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const reply = await fetch(`${origin}/health`, { method: 'GET', headers: {}, signal });
  const text = await reply.text();
  return versionIn(text) !== null;
};

export const versionIn = (text: string): string | null => {
  try {
    const { status, version, uptimeSeconds } = JSON.parse(text);
    const isHealth = status === 'ok' && typeof uptimeSeconds === 'number';
    return isHealth && typeof version === 'string' ? version : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
};
