import { BlockList, isIP } from 'node:net';

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
/** True if a Host header, or the host of an address, names this machine. */
export const isLoopbackName = (host: string): boolean => LOOPBACK_HOST.test(host);

/** Returns a host without the port that its scheme implies and without the final dot of a name. */
export const plainHost = (host: string): string =>
  host
    .trim()
    .toLowerCase()
    .replace(/:(?:443|80)?$/, '')
    .replace(/\.(?=:\d+$|$)/, '');

/** Headers that a proxy or a tunnel adds to the requests that it forwards. */
const FORWARDING =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|x-client-ip|true-client-ip|x-original-.+|cf-.+|cdn-loop|tailscale-.+|ngrok-.+)$/;

const forwardingHeader = (headers: RawHeaders): string | undefined =>
  Object.keys(headers).find((name) => FORWARDING.test(name));

/** True if a proxy or a tunnel has added a header of its own. */
export const hasForwardingHeader = (headers: RawHeaders): boolean =>
  forwardingHeader(headers) !== undefined;

/** The part of a request that tells whether a proxy passed it on. */
interface ForwardedRequest {
  headers: RawHeaders;
  /** As `1.1`. */
  httpVersion: string;
}

/**
 * Returns the mark of a proxy that a request bears; null if it bears none. A `proxy_pass` of nginx
 * without more speaks HTTP/1.0, and sends `Connection: close`.
 */
export const proxyMark = ({ headers, httpVersion }: ForwardedRequest): string | null => {
  const name = forwardingHeader(headers);
  if (name !== undefined) return `the header ${name}`;
  if (httpVersion === '1.0') return 'HTTP/1.0';
  const { host } = headers;
  if (typeof host !== 'string' || !isLoopbackName(host))
    return 'a Host header that is not this machine';
  return null;
};

/** Headers by lower-case name. */
export type RawHeaders = Record<string, unknown>;

/** Returns the plain IPv4 form: `::ffff:10.0.0.1` and `10.0.0.1` are one address. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const contains = (set: BlockList, address: string): boolean =>
  isIP(address) !== 0 && set.check(address, familyOf(address));

/** Makes one set of addresses and CIDRs. Throws if an entry is neither. */
export const addressSet = (entries: string[]): BlockList => {
  const set = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    if (isIP(address) === 0) throw new Error(`not an address or CIDR: ${entry}`);
    if (bits === undefined) set.addAddress(address, familyOf(address));
    else set.addSubnet(address, Number(bits), familyOf(address));
  }
  return set;
};

const loopback = addressSet(['127.0.0.0/8', '::1']);

/** True if a server on this `host` setting is reachable from this machine only. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || contains(loopback, plainAddress(host));

/**
 * True if this machine itself made the request: loopback peer, loopback Host, no header of a proxy,
 * no foreign Origin. A request through a raw TCP forward looks the same, so callers check more
 * where there may be one.
 */
export const isLocalRequest = (peer: string, request: ForwardedRequest): boolean => {
  if (!isLoopbackAddress(peer) || proxyMark(request) !== null) return false;
  const { host, origin } = request.headers;
  return origin === undefined || origin === `http://${host}`;
};

/** True if an address is one of this machine's own. */
export const isLoopbackAddress = (address: string): boolean =>
  contains(loopback, plainAddress(address));

/** The proxies and tunnels that are trusted to state the client's address. */
export interface ProxyTrust {
  /** Peers whose X-Forwarded-For is trusted. */
  proxies: BlockList;
  /**
   * A tunnel that ends on this machine, so that loopback peers stand for other clients, or null
   * without a tunnel. `header` is the tunnel's own header with the client's address, in lower case.
   * null: there is no such header, and all clients look like one.
   */
  tunnel: { header: string | null } | null;
}

const FORWARDED_FOR = 'x-forwarded-for';

/**
 * Returns the client's address: the one in the tunnel's own header, otherwise the last one in
 * X-Forwarded-For, or else in Forwarded (RFC 7239), that is not a trusted proxy's.
 */
export const clientAddress = (peer: string, headers: RawHeaders, trust: ProxyTrust): string =>
  clientOf(peer, headers, trust).address;

/**
 * Returns the host that a request is addressed to, without the port that its scheme implies and
 * without a final dot. X-Forwarded-Host counts if a trusted proxy sent it.
 */
export const addressedHost = (peer: string, headers: RawHeaders, trust: ProxyTrust): string => {
  const address = plainAddress(peer);
  const isTrusted =
    contains(trust.proxies, address) || (trust.tunnel !== null && contains(loopback, address));
  const forwarded = isTrusted ? headers['x-forwarded-host'] : undefined;
  return plainHost(
    String(forwarded ?? headers.host ?? '')
      .split(',')
      .pop() ?? '',
  );
};

/**
 * Returns the client's address, and the text that a trusted proxy sent in place of one; null if there
 * is none. With such a text the address is the proxy's.
 */
export const clientOf = (
  peer: string,
  headers: RawHeaders,
  trust: ProxyTrust,
): { address: string; unreadable: string | null } => {
  const header = trust.tunnel?.header ?? null;
  let address = plainAddress(peer);
  if (header !== null && header !== FORWARDED_FOR && contains(loopback, address)) {
    const claimed = statedAddress(String(headers[header] ?? ''));
    if (claimed !== null) return { address: claimed, unreadable: null };
  }
  const isTrusted = (one: string): boolean =>
    contains(trust.proxies, one) || (header === FORWARDED_FOR && contains(loopback, one));
  const stated = isTrusted(address) ? statedIn(headers) : [];
  while (isTrusted(address)) {
    const text = stated.pop();
    if (text === undefined) break;
    const before = statedAddress(text);
    if (before === null) return { address, unreadable: text };
    address = before;
  }
  return { address, unreadable: null };
};

/** The values of `for` in Forwarded, with the quotes of a value that has a port or is IPv6. */
const FOR = /(?:^|[;,])\s*for\s*=\s*("[^"]*"|[^;,\s"]*)/gi;

/** Returns what the proxies stated about the client and each other, the nearest one last. */
const statedIn = (headers: RawHeaders): string[] => {
  const list = headers[FORWARDED_FOR];
  if (list !== undefined) return String(list).split(',');
  return [...String(headers.forwarded ?? '').matchAll(FOR)].map(([, node = '']) => node);
};

const BRACKETED = /^\[([^\]]+)\](?::\w+)?$/;
const WITH_PORT = /^(\d+(?:\.\d+){3}):\w+$/;

/** Returns the address in a text that may have quotes, brackets, a port or a zone; null if none is. */
const statedAddress = (text: string): string | null => {
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  const [, host = bare] = BRACKETED.exec(bare) ?? WITH_PORT.exec(bare) ?? [];
  const address = plainAddress(host.replace(/%.*$/, ''));
  return isIP(address) === 0 ? null : address;
};

/**
 * True if many clients may share this address: they come through a tunnel that does not distinguish
 * them.
 */
export const isShared = (peer: string, { tunnel }: ProxyTrust): boolean =>
  tunnel !== null && tunnel.header === null && contains(loopback, plainAddress(peer));
