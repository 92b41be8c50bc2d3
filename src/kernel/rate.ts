import { isInside, type Network, parseAddress } from './address.js';
import type { Clock } from './clock.js';

const WINDOW_MS = 60_000;
const MAX_KEYS = 100_000;
/** Shared by all new keys if the table is full. */
const NEWCOMERS = '';

export type Allowance = NonNullable<ReturnType<Rate['take']>>;

export const rateLimitMessage = ({ limit, resetSeconds }: Allowance): string =>
  `At most ${limit} requests a minute. Try again in ${resetSeconds} s`;

export type Rate = ReturnType<typeof createRate>;

/** Requests per key and minute, in fixed windows. 0 disables the limit. */
export const createRate = (perMinute: number, clock: Clock) => {
  const taken = new Map<string, number>();
  let since = Number.NEGATIVE_INFINITY;

  const turn = (now: number): void => {
    // A clock set back starts a new window, otherwise the old one would never end.
    if (now >= since && now < since + WINDOW_MS) return;
    taken.clear();
    since = now;
  };

  return {
    take: (key: string) => {
      if (perMinute === 0) return null;
      const now = clock.now();
      turn(now);
      const counted = taken.has(key) || taken.size < MAX_KEYS ? key : NEWCOMERS;
      const count = (taken.get(counted) ?? 0) + 1;
      taken.set(counted, count);
      return {
        limit: perMinute,
        remaining: Math.max(0, Math.floor(perMinute - count)),
        resetSeconds: Math.max(1, Math.ceil((since + WINDOW_MS - now) / 1000)),
        isSpent: count > perMinute,
      };
    },
    giveBack: (key: string): void => {
      turn(clock.now());
      const count = taken.get(key) ?? 0;
      if (count > 0) taken.set(key, count - 1);
    },
  };
};

/**
 * A customer has a whole IPv6 /64, so that prefix is counted. Texts that are not an address stay
 * unchanged.
 */
export const getNetworkPrefix = (address: string): string => {
  const bytes = parseAddress(address.replace(/%.*$/, ''));
  if (!bytes) return address;
  if (bytes.length === 4) return bytes.join('.');
  if (isInside(MAPPED, bytes)) return bytes.slice(12).join('.');
  const groups = [0, 2, 4, 6].map((at) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
  return groups.map((group) => group.toString(16)).join(':');
};

/** IPv4 in IPv6 (RFC 4291, 2.5.5.2). */
const MAPPED: Network = { address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0], bits: 96 };
