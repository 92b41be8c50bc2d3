import { isIP } from 'node:net';

export type Address = readonly number[];

/** CIDR, RFC 4632. */
export interface Network {
  address: Address;
  bits: number;
}

/** Null if the text is not an IP literal. Brackets are allowed, a zone is not. */
export const parseAddress = (text: string): Address | null => {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (bare.includes('%')) return null;
  const family = isIP(bare);
  if (family === 4) return bare.split('.').map(Number);
  return family === 6 ? bytesOfIPv6(bare) : null;
};

export const parseNetwork = (text: string): Network | null => {
  const [, host = '', digits = ''] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(host);
  const bits = Number(digits);
  return address && bits <= address.length * 8 ? { address, bits } : null;
};

export const isInside = (network: Network, address: Address): boolean =>
  address.length === network.address.length &&
  network.address.every((byte, at) => {
    const kept = Math.min(8, Math.max(0, network.bits - at * 8));
    return (byte ^ (address[at] ?? 0)) >> (8 - kept) === 0;
  });

export const isPublic = (address: Address): boolean => {
  if (reserved.some((network) => isInside(network, address))) return false;
  return address.length === 4 || isInside(globalUnicast, address);
};

export const isMetadata = (address: Address): boolean =>
  [address, ...carried(address)].some((one) => metadata.some((known) => isInside(known, one)));

const bytesOfIPv6 = (text: string): number[] => {
  // The URL parser normalizes every notation to groups of hexadecimal digits.
  const [head = '', tail = ''] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const front = groups(head);
  const back = groups(tail);
  const gap = new Array<number>(8 - front.length - back.length).fill(0);
  return [...front, ...gap, ...back].flatMap((group) => [group >> 8, group & 0xff]);
};

const groups = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));

const carried = (address: Address): Address[] => {
  if (address.length === 4) return [];
  const plain = carriers.map((places) => places.map((at) => address[at] ?? 0));
  const teredo = address.slice(12).map((byte) => byte ^ 0xff);
  return [...plain, teredo];
};

const carriers = [
  [12, 13, 14, 15], // mapped, compatible, ISATAP, NAT64 with a prefix of 96 bits
  [2, 3, 4, 5], // 6to4
  // NAT64 with a prefix of 32 to 64 bits (RFC 6052, 2.2; byte 8 is skipped), and Teredo's server
  [4, 5, 6, 7],
  [5, 6, 7, 9],
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
];

const network = (text: string): Network => {
  const parsed = parseNetwork(text);
  if (!parsed) throw new Error(`Invalid network: ${text}`);
  return parsed;
};

/** Excludes mapped, NAT64, unique-local, link-local and multicast addresses. */
const globalUnicast = network('2000::/3');

const reserved = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // future use, broadcast
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
].map(network);

const metadata = [
  '169.254.169.254/32', // most clouds
  '169.254.170.2/32', // Amazon ECS
  '169.254.170.23/32', // Amazon EKS
  '169.254.42.42/32', // Scaleway
  '169.254.0.23/32', // Tencent
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure, although it is a public address
  '192.0.0.192/32', // Oracle
  'fd00:ec2::254/128', // Amazon EC2
  'fd00:ec2::23/128', // Amazon EKS
  'fd20:ce::254/128', // Google
  'fd00:42::42/128', // Scaleway
].map(network);
