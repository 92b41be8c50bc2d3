import type { ToolIdentity } from '../../tools/module.js';

/** An address in the normalized form in which addresses are compared. */
export interface CalledAddress {
  /** Scheme, host and port: `https://example.com`. */
  origin: string;
  /** The decoded segments of the path; null if a server might read them as another path. */
  segments: string[] | null;
  /** True also for an empty query string. */
  hasQuery: boolean;
}

/** A call that makes one HTTP request. */
export interface RequestCall extends CalledAddress {
  method: string;
  hasBody: boolean;
  /** True if it has headers whose content is not limited. */
  hasOddHeaders: boolean;
}

/** The same limit as that of the tools. */
const MAX_ADDRESS_LENGTH = 8192;
const BEFORE_SEPARATOR = /^[^/\\?#]*/;

/** True also for an empty user part. */
const namesUser = (text: string): boolean => {
  const [scheme = ''] = BEFORE_SEPARATOR.exec(text) ?? [];
  const [host = ''] = BEFORE_SEPARATOR.exec(text.slice(scheme.length).replace(/^[/\\]+/, '')) ?? [];
  return scheme.includes('@') || host.includes('@');
};

/** Parses like the HTTP client. Null for other schemes than http and https, or with a user part. */
export const parseCalledAddress = (text: unknown): CalledAddress | null => {
  if (typeof text !== 'string' || text.length > MAX_ADDRESS_LENGTH) return null;
  if (!URL.canParse(text) || namesUser(text)) return null;
  const { protocol, hostname, port, pathname, href, username, password } = new URL(text);
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '') {
    return null;
  }
  const [beforeFragment = ''] = href.split('#', 1);
  return {
    origin: `${protocol}//${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`,
    segments: parsePathSegments(pathname),
    hasQuery: beforeFragment.includes('?'),
  };
};

/** Encodes each segment in the same way. */
export const encodedPath = (segments: string[]): string =>
  `/${segments.map(encodeURIComponent).join('/')}`;

const parsePathSegments = (pathname: string): string[] | null => {
  const parts = pathname.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  const segments = parts.map(plainSegment);
  return segments.every((segment) => segment !== null) ? segments : null;
};

/** More layers of percent-encoding than this count as odd. */
const LAYERS = 4;
/** Separators, parameters and control characters, which servers interpret differently. */
const ODD = /[/\\;?#\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Segments of dots and blanks, some of which lead to the parent folder. */
const DOTS = /^[.\s]*$/;

/** Null if the segment is empty or odd. */
const plainSegment = (written: string): string | null => {
  let segment = written;
  for (let layer = 0; layer < LAYERS; layer++) {
    const decoded = decodedOnce(segment);
    if (decoded === null) return null;
    if (decoded === segment) return isPlain(segment) ? segment : null;
    segment = decoded;
  }
  return null;
};

const isPlain = (segment: string): boolean =>
  !ODD.test(segment) && !DOTS.test(segment) && segment === segment.normalize('NFKC');

const decodedOnce = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
};

/** Headers in which an untrusted agent may send any short value: no server acts on them. */
const HARMLESS = /^(accept|accept-encoding|accept-language|content-type)$/i;
const MAX_VALUE_LENGTH = 200;

/** Null if the tool makes no request, or not to an address in its arguments. */
export const parseRequestCall = (
  { skillId, name }: ToolIdentity,
  args: Record<string, unknown>,
): RequestCall | null => {
  const method = METHODS[`${skillId}.${name}`]?.(args);
  const address = parseCalledAddress(args.url);
  if (typeof method !== 'string' || !address) return null;
  const hasBody = args.body !== undefined && args.body !== null;
  return { ...address, method, hasBody, hasOddHeaders: !areHarmless(args.headers) };
};

/** The tools that make exactly one request, with the method of a call. */
const METHODS: Record<string, (args: Record<string, unknown>) => unknown> = {
  'http.request': ({ method }) => method,
  'web.read': () => 'GET',
};

/** An address with a scheme anywhere in a text, or without one at its beginning. */
const ADDRESS = /\b(https?|wss?|ftps?):|[a-z\d+.-]:[/\\]{2}|^\s*[/\\]{2}/i;
/** Characters that the URL parser ignores. */
const LEFT_OUT = /[\t\r\n]/g;

/**
 * True if an argument other than `url` contains an address. Tools that send only to `url`, such as
 * `http.request`, have none: there, an address is content.
 */
export const namesOtherAddress = (
  { skillId, name }: ToolIdentity,
  { url: _, ...rest }: Record<string, unknown>,
): boolean => METHODS[`${skillId}.${name}`] === undefined && hasAddress(rest);

const hasAddress = (value: unknown): boolean => {
  if (typeof value === 'string') return ADDRESS.test(value.replace(LEFT_OUT, ''));
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => hasAddress(key) || hasAddress(inner));
};

const areHarmless = (headers: unknown): boolean => {
  if (headers === undefined || headers === null) return true;
  if (typeof headers !== 'object') return false;
  return Object.entries(headers).every(
    ([name, value]) =>
      HARMLESS.test(name) && typeof value === 'string' && value.length <= MAX_VALUE_LENGTH,
  );
};
