import { isInside, type Network, parseAddress } from './address.js';
import type { Clock } from './clock.js';

const WINDOW_MS = 60_000;
const MOST_KEYS = 100_000;
/** What every newcomer shares once too many are counted, so that counting stays small. */
const NEWCOMERS = '';

/** What is left of a key's requests in this minute. */
export interface Allowance {
  limit: number;
  remaining: number;
  /** Whole seconds until all of them are there again, at least 1. */
  resetSeconds: number;
  isSpent: boolean;
}

/** To whoever asked for more. */
export const spentMessage = ({ limit, resetSeconds }: Allowance): string =>
  `At most ${limit} requests a minute. Try again in ${resetSeconds} s`;

export interface Rate {
  /** Counts one request. `null`: there is no limit. */
  take(key: string): Allowance | null;
  /** Takes one back that was counted in this minute. */
  giveBack(key: string): void;
}

/** Requests per key and minute in fixed windows, in memory; 0 a minute switches the limit off. */
export const createRate = (perMinute: number, clock: Clock): Rate => {
  const taken = new Map<string, number>();
  let since = Number.NEGATIVE_INFINITY;

  const turn = (now: number): void => {
    // A clock that steps back begins a new window too, or the old one would never end.
    if (now >= since && now < since + WINDOW_MS) return;
    taken.clear();
    since = now;
  };

  return {
    take: (key) => {
      if (perMinute === 0) return null;
      const now = clock.now();
      turn(now);
      const counted = taken.has(key) || taken.size < MOST_KEYS ? key : NEWCOMERS;
      const count = (taken.get(counted) ?? 0) + 1;
      taken.set(counted, count);
      return {
        limit: perMinute,
        remaining: Math.max(0, Math.floor(perMinute - count)),
        resetSeconds: Math.max(1, Math.ceil((since + WINDOW_MS - now) / 1000)),
        isSpent: count > perMinute,
      };
    },
    giveBack: (key) => {
      turn(clock.now());
      const count = taken.get(key) ?? 0;
      if (count > 0) taken.set(key, count - 1);
    },
  };
};

/**
 * One customer of a provider has a whole IPv6 /64, so that is what is counted there. However an
 * address is spelt, it is one; what is no address is given back as it is.
 */
export const networkOf = (address: string): string => {
  const bytes = parseAddress(address.replace(/%.*$/, ''));
  if (!bytes) return address;
  if (bytes.length === 4) return bytes.join('.');
  if (isInside(MAPPED, bytes)) return bytes.slice(12).join('.');
  const groups = [0, 2, 4, 6].map((at) => ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
  return groups.map((group) => group.toString(16)).join(':');
};

/** IPv4 addresses as IPv6 has them (RFC 4291, 2.5.5.2). */
const MAPPED: Network = { address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0], bits: 96 };
