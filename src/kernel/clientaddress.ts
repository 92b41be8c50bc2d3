import { BlockList, isIP } from 'node:net';

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
/** True if a Host header, or the host of an address, names this machine. */
export const isLoopbackName = (host: string): boolean => LOOPBACK_HOST.test(host);

/** Headers that a proxy or a tunnel adds to the requests that it forwards. */
const FORWARDING = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
  'tailscale-user-login',
  'ngrok-trace-id',
  'via',
];

type RawHeaders = Record<string, unknown>;

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
export const isLocalRequest = (peer: string, headers: RawHeaders): boolean => {
  const { host, origin } = headers;
  if (!contains(loopback, plainAddress(peer)) || typeof host !== 'string') return false;
  if (!isLoopbackName(host) || FORWARDING.some((name) => headers[name] !== undefined)) {
    return false;
  }
  return origin === undefined || origin === `http://${host}`;
};

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
 * X-Forwarded-For that is not a trusted proxy's.
 */
export const clientAddress = (peer: string, headers: RawHeaders, trust: ProxyTrust): string => {
  const header = trust.tunnel?.header ?? null;
  let address = plainAddress(peer);
  if (header !== null && header !== FORWARDED_FOR && contains(loopback, address)) {
    const claimed = plainAddress(String(headers[header] ?? '').trim());
    if (isIP(claimed) !== 0) return claimed;
  }
  const isTrusted = (one: string): boolean =>
    contains(trust.proxies, one) || (header === FORWARDED_FOR && contains(loopback, one));
  const forwarded = String(headers[FORWARDED_FOR] ?? '')
    .split(',')
    .map((part) => plainAddress(part.trim()));
  while (isTrusted(address)) {
    const before = forwarded.pop();
    if (!before || isIP(before) === 0) break;
    address = before;
  }
  return address;
};

/**
 * True if many clients may share this address: they come through a tunnel that does not distinguish
 * them.
 */
export const isShared = (peer: string, { tunnel }: ProxyTrust): boolean =>
  tunnel !== null && tunnel.header === null && contains(loopback, plainAddress(peer));
