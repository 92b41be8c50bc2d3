import { isIPv6 } from 'node:net';
import {
  type Address,
  isInside,
  isMetadata,
  isPublic,
  type Network,
  parseAddress,
  parseNetwork,
} from './address.js';
import { isHostName } from './contract/url.js';
import { NamedError } from './failure.js';

export class EgressRefused extends NamedError {
  constructor(
    readonly host: string,
    readonly why: string,
    /** Whether an earlier host, which redirected here, received the request. */
    readonly effectBegan = false,
  ) {
    super(`${host} is refused: ${why}`);
  }
}

export class BadUrl extends NamedError {}

export const getEgressRefusal = (check: () => void): string | null => {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof BadUrl || error instanceof EgressRefused) return error.message;
    throw error;
  }
};

export type Egress = ReturnType<typeof createEgress>;

export const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!/^https?:/i.test(url?.protocol ?? text.trim()))
    throw new BadUrl('The URL must begin with http:// or https://');
  if (!url) throw new BadUrl('The URL is invalid');
  if (!isHostName(url.hostname)) throw new BadUrl(`The URL has an invalid host: ${url.hostname}`);
  if (url.port === '0') throw new BadUrl('The URL must not have the port 0');
  if (url.username || url.password) throw new BadUrl('The URL must not contain credentials');
  return url;
};

export const isUrl = (text: string): boolean => getEgressRefusal(() => parseUrl(text)) === null;

/**
 * Allows the public internet and the entries of `allow`: host, host:port or CIDR; IPv6 with a port
 * in brackets. A name allows every address it resolves to. An address or network also allows names
 * that resolve to it. Metadata services are always refused.
 */
export const createEgress = (allow: string[]) => {
  const rules = allow.map(parseRule);
  const isNamed = (target: EgressTarget) => rules.some((rule) => rule(target));

  const check = (target: EgressTarget) => {
    const { host, address } = target;
    if (metadataNames.has(host)) throw new EgressRefused(host, ALWAYS_BLOCKED);
    if (address) return checkAddress(target, address);
    if (host.endsWith('.')) throw new EgressRefused(host, TRAILING_DOT);
    if (localName.test(host) && !isNamed(target)) throw new EgressRefused(host, NOT_ALLOWED);
  };
  const checkAddress = (target: EgressTarget, address: Address) => {
    if (isMetadata(address)) throw new EgressRefused(target.host, ALWAYS_BLOCKED);
    if (!isPublic(address) && !isNamed(target)) throw new EgressRefused(target.host, NOT_ALLOWED);
  };

  return {
    /** Does not resolve names. Throws EgressRefused. */
    check: (url: URL): void => check(toEgressTarget(url)),
    checkDial: ({ host, port, address: text }: { host: string; port: number; address: string }) => {
      const address = parseAddress(text);
      if (!address) throw new EgressRefused(host, NOT_ALLOWED);
      checkAddress({ host, port, address }, address);
    },
    names: (url: URL): boolean => isNamed(toEgressTarget(url)),
  };
};

interface EgressTarget {
  host: string;
  port: number;
  address: Address | null;
}
type Rule = (target: EgressTarget) => boolean;

const ALWAYS_BLOCKED =
  'metadata services are always blocked, regardless of egressAllow (ADJUTANT_EGRESS_ALLOW)';
const NOT_ALLOWED =
  'it is a private, local or reserved address. To allow it, add it to the setting egressAllow (ADJUTANT_EGRESS_ALLOW) and restart the daemon';
const TRAILING_DOT =
  'a host name must not end with a dot, regardless of egressAllow (ADJUTANT_EGRESS_ALLOW)';

const localName = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;

/** Names from routers and Tailscale. */
const networkName = /\.(lan|ts\.net)$/;

/** A private address, or a name of a local network. Does not resolve names. */
export const isLocalHost = (hostname: string): boolean => {
  const address = parseAddress(hostname);
  if (address) return !isPublic(address);
  const name = hostname.replace(/\.$/, '');
  return localName.test(name) || networkName.test(name) || !name.includes('.');
};

const metadataNames = new Set([
  'metadata',
  'metadata.goog',
  'metadata.google.internal',
  'metadata.tencentyun.com',
  'instance-data',
  'instance-data.ec2.internal',
]);

const toEgressTarget = (url: URL): EgressTarget => ({
  host: url.hostname,
  port: getUrlPort(url),
  address: parseAddress(url.hostname),
});

export const getUrlPort = ({ port, protocol }: Pick<URL, 'port' | 'protocol'>): number =>
  Number(port) || (protocol === 'https:' ? 443 : 80);

export const hostAndPort = (text: string): string => {
  const url = parseUrl(text);
  return `${url.hostname}:${getUrlPort(url)}`;
};

const parseRule = (entry: string): Rule => {
  const network = parseNetwork(entry);
  if (network) return inside(network);
  const { host, port } = parseHost(entry);
  const address = parseAddress(host);
  const isHost = address
    ? inside({ address, bits: address.length * 8 })
    : (target: EgressTarget) => target.host === host;
  return (target) => (port === null || port === target.port) && isHost(target);
};

const inside =
  (network: Network): Rule =>
  ({ address }) =>
    address !== null && isInside(network, address);

const parseHost = (entry: string): { host: string; port: number | null } => {
  const bare = isIPv6(entry) ? `[${entry}]` : entry;
  const [, host, digits] =
    /^(\[.+\]|[^\s:/?#@\\*]*[^\s:/?#@\\*.])(?::(\d{1,5}))?$/.exec(bare) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (
    !host ||
    !URL.canParse(`http://${host}`) ||
    !isHostName(host) ||
    port === 0 ||
    (port ?? 0) > 65_535
  )
    throw new Error(`egressAllow: "${entry}" is not a host, host:port or CIDR`);
  return { host: new URL(`http://${host}`).hostname, port };
};
