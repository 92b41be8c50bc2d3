import { BlockList, isIP } from 'node:net';

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
export const isLoopbackName = (host: string): boolean => LOOPBACK_HOST.test(host);

export const plainHost = (host: string): string =>
  host
    .trim()
    .toLowerCase()
    .replace(/:(?:443|80)?$/, '')
    .replace(/\.(?=:\d+$|$)/, '');

const FORWARDING =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|x-client-ip|true-client-ip|x-original-.+|cf-.+|cdn-loop|tailscale-.+|ngrok-.+)$/;

const forwardingHeader = (headers: RawHeaders): string | undefined =>
  Object.keys(headers).find((name) => FORWARDING.test(name));

export const hasForwardingHeader = (headers: RawHeaders): boolean =>
  forwardingHeader(headers) !== undefined;

interface ForwardedRequest {
  headers: RawHeaders;
  httpVersion: string;
}

/**
 * Returns a sign of a proxy. A plain `proxy_pass` of nginx uses HTTP/1.0 and `Connection: close`.
 */
export const proxyMark = ({ headers, httpVersion }: ForwardedRequest): string | null => {
  const name = forwardingHeader(headers);
  if (name !== undefined) return `the header ${name}`;
  if (httpVersion === '1.0') return 'HTTP/1.0';
  const { host } = headers;
  if (typeof host !== 'string') return 'no Host header';
  return isLoopbackName(host) ? null : `the Host header ${JSON.stringify(host)}`;
};

export type RawHeaders = Record<string, unknown>;

const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

const getAddressFamily = (address: string): 'ipv4' | 'ipv6' =>
  isIP(address) === 6 ? 'ipv6' : 'ipv4';

const contains = (set: BlockList, address: string): boolean =>
  isIP(address) !== 0 && set.check(address, getAddressFamily(address));

export const addressSet = (entries: string[]): BlockList => {
  const set = new BlockList();
  for (const entry of entries) {
    const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    if (isIP(address) === 0) throw new Error(`not an address or CIDR: ${entry}`);
    if (bits === undefined) set.addAddress(address, getAddressFamily(address));
    else set.addSubnet(address, Number(bits), getAddressFamily(address));
  }
  return set;
};

const loopback = addressSet(['127.0.0.0/8', '::1']);

export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || contains(loopback, plainAddress(host));

/**
 * Loopback peer and Host, no proxy header, no foreign Origin. A raw TCP forward looks the same, so
 * callers check more if there may be one.
 */
export const isLocalRequest = (peer: string, request: ForwardedRequest): boolean => {
  if (!isLoopbackAddress(peer) || proxyMark(request) !== null) return false;
  const { host, origin } = request.headers;
  return origin === undefined || origin === `http://${host}`;
};

export const isLoopbackAddress = (address: string): boolean =>
  contains(loopback, plainAddress(address));

export interface ProxyTrust {
  proxies: BlockList;
  /**
   * A tunnel that ends on this machine, so that loopback peers are other clients. `header`:
   * lower-case header of the tunnel with the client address; null if all clients look like one.
   */
  tunnel: { header: string | null } | null;
}

const FORWARDED_FOR = 'x-forwarded-for';

/**
 * From the header of the tunnel, otherwise the last address in X-Forwarded-For or Forwarded (RFC
 * 7239) that is not a trusted proxy.
 */
export const clientAddress = (peer: string, headers: RawHeaders, trust: ProxyTrust): string =>
  resolveClientAddress(peer, headers, trust).address;

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

/** `unreadable`: text that a trusted proxy sent instead of an address. */
export const resolveClientAddress = (
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

const FOR = /(?:^|[;,])\s*for\s*=\s*("[^"]*"|[^;,\s"]*)/gi;

const statedIn = (headers: RawHeaders): string[] => {
  const list = headers[FORWARDED_FOR];
  if (list !== undefined) return String(list).split(',');
  return [...String(headers.forwarded ?? '').matchAll(FOR)].map(([, node = '']) => node);
};

const BRACKETED = /^\[([^\]]+)\](?::\w+)?$/;
const WITH_PORT = /^(\d+(?:\.\d+){3}):\w+$/;

const statedAddress = (text: string): string | null => {
  const bare = text.trim().replace(/^"(.*)"$/, '$1');
  const [, host = bare] = BRACKETED.exec(bare) ?? WITH_PORT.exec(bare) ?? [];
  const address = plainAddress(host.replace(/%.*$/, ''));
  return isIP(address) === 0 ? null : address;
};

/** Whether a tunnel does not distinguish its clients. */
export const isShared = (peer: string, { tunnel }: ProxyTrust): boolean =>
  tunnel !== null && tunnel.header === null && contains(loopback, plainAddress(peer));
