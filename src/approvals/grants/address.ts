import type { ToolIdentity } from '../../tools/module.js';

/** The address that a call names, in the one form in which addresses are compared. */
export interface CalledAddress {
  /** Scheme, host and port: `https://example.com`. */
  origin: string;
  /** The decoded segments of the path; null if a server might read them as another path. */
  segments: string[] | null;
  /** True if there is a query string, even an empty one. */
  hasQuery: boolean;
}

/** A call that is one HTTP request. */
export interface RequestCall extends CalledAddress {
  method: string;
  hasBody: boolean;
  /** True if it has headers that could hold anything. */
  hasOddHeaders: boolean;
}

/** The most characters of an address, which is also that of the tools. */
const MAX_ADDRESS_LENGTH = 8192;
const BEFORE_SEPARATOR = /^[^/\\?#]*/;

/** True if an address has a user part, also an empty one. */
const namesUser = (given: string): boolean => {
  const [scheme = ''] = BEFORE_SEPARATOR.exec(given) ?? [];
  const [host = ''] =
    BEFORE_SEPARATOR.exec(given.slice(scheme.length).replace(/^[/\\]+/, '')) ?? [];
  return scheme.includes('@') || host.includes('@');
};

/**
 * Parses an address as the HTTP client does. Returns null if it is not http or https, or if it
 * names a user.
 */
export const calledAddress = (given: unknown): CalledAddress | null => {
  if (typeof given !== 'string' || given.length > MAX_ADDRESS_LENGTH) return null;
  if (!URL.canParse(given) || namesUser(given)) return null;
  const { protocol, hostname, port, pathname, href, username, password } = new URL(given);
  if ((protocol !== 'http:' && protocol !== 'https:') || username !== '' || password !== '') {
    return null;
  }
  const [beforeFragment = ''] = href.split('#', 1);
  return {
    origin: `${protocol}//${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`,
    segments: segmentsOf(pathname),
    hasQuery: beforeFragment.includes('?'),
  };
};

/** Returns the path of segments, each encoded in one way. */
export const encodedPath = (segments: string[]): string =>
  `/${segments.map(encodeURIComponent).join('/')}`;

const segmentsOf = (pathname: string): string[] | null => {
  const parts = pathname.split('/').slice(1);
  if (parts.at(-1) === '') parts.pop();
  const segments = parts.map(plainSegment);
  return segments.every((segment) => segment !== null) ? segments : null;
};

/** Ours: the number of times that a segment may be encoded before it counts as odd. */
const LAYERS = 4;
/** Separators, parameters and control characters, which servers read in different ways. */
const ODD = /[/\\;?#\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** Segments of dots and blanks, some of which lead up. */
const DOTS = /^[.\s]*$/;

/** Returns a segment, decoded; null if it is empty or odd. */
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

/**
 * The headers in which an untrusted agent may say what it likes. Ours: their values are short, and
 * no server acts on them.
 */
const HARMLESS = /^(accept|accept-encoding|accept-language|content-type)$/i;
const MAX_VALUE_LENGTH = 200;

/**
 * Returns the HTTP request that a call makes; null if the tool makes none, or not to an address in
 * its arguments.
 */
export const requestIn = (
  { skillId, name }: ToolIdentity,
  args: Record<string, unknown>,
): RequestCall | null => {
  const method = METHODS[`${skillId}.${name}`]?.(args);
  const address = calledAddress(args.url);
  if (typeof method !== 'string' || !address) return null;
  const hasBody = args.body !== undefined && args.body !== null;
  return { ...address, method, hasBody, hasOddHeaders: !areHarmless(args.headers) };
};

/** The tools that make one request, and the method of a call. */
const METHODS: Record<string, (args: Record<string, unknown>) => unknown> = {
  'http.request': ({ method }) => method,
  'web.read': () => 'GET',
};

/** An address with a scheme, by the end of that, or without one at the beginning of a text. */
const ADDRESS = /\b(https?|wss?|ftps?):|[a-z\d+.-]:[/\\]{2}|^\s*[/\\]{2}/i;
/** Characters that the parser of URLs leaves out. */
const LEFT_OUT = /[\t\r\n]/g;

/**
 * Returns true if an argument other than `url` has an address in it, at any depth. A tool that
 * sends to `url` only, such as `http.request`, has none: there, an address is content.
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
