import { BlockList, isIP } from 'node:net';

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;
/** Marks that a proxy or a tunnel leaves on what it passes on. */
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

/** `::ffff:10.0.0.1` and `10.0.0.1` are one address. */
const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const contains = (set: BlockList, address: string): boolean =>
  isIP(address) !== 0 && set.check(address, familyOf(address));

/** Addresses and CIDRs as one set. Throws on what is neither. */
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

/** Of `host` settings: what listens there is reachable from this machine alone. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || contains(loopback, plainAddress(host));

/**
 * A request that this machine itself made: loopback peer, loopback Host, no proxy's mark, no
 * foreign Origin. A raw TCP forward looks the same, so callers ask for more where one may stand.
 */
export const isFromHere = (peer: string, headers: RawHeaders): boolean => {
  const { host, origin } = headers;
  if (!contains(loopback, plainAddress(peer)) || typeof host !== 'string') return false;
  if (!LOOPBACK_HOST.test(host) || FORWARDING.some((name) => headers[name] !== undefined)) {
    return false;
  }
  return origin === undefined || origin === `http://${host}`;
};

/** Whose word is taken for where a request comes from. */
export interface ProxyTrust {
  /** Peers whose X-Forwarded-For is believed. */
  proxies: BlockList;
  /**
   * A tunnel ends on this machine, so that loopback peers speak for others. Its own header, in lower
   * case, tells for whom; null: none does, and all of them look like one. null: there is no tunnel.
   */
  tunnel: { header: string | null } | null;
}

const FORWARDED_FOR = 'x-forwarded-for';

/**
 * The client's address: what the tunnel's own header says, else the last one in X-Forwarded-For that
 * is not a trusted proxy's.
 */
export const clientAddress = (peer: string, headers: RawHeaders, trust: ProxyTrust): string => {
  const header = trust.tunnel?.header ?? null;
  let address = plainAddress(peer);
  if (header !== null && header !== FORWARDED_FOR && contains(loopback, address)) {
    const told = plainAddress(String(headers[header] ?? '').trim());
    if (isIP(told) !== 0) return told;
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

/** Whether many may stand behind this address: a tunnel brings them and does not tell them apart. */
export const isShared = (peer: string, { tunnel }: ProxyTrust): boolean =>
  tunnel !== null && tunnel.header === null && contains(loopback, plainAddress(peer));
