import { clientAddress, isShared, type ProxyTrust } from './clientaddress.js';
import type { Clock } from './clock.js';
import { type Allowance, createRate, networkOf } from './rate.js';

/** The rate limit for requests without a valid token, over any transport, per client address. */
export interface AnonymousLimit {
  /** Counts one request from that peer. Returns null if the peer has no limit. */
  take(peer: string, headers: Record<string, unknown>): Allowance | null;
}

export const createAnonymousLimit = (
  perMinute: number,
  { clock, trust }: { clock: Clock; trust(): ProxyTrust },
): AnonymousLimit => {
  const perAddress = createRate(perMinute, clock);
  return {
    take: (peer, headers) => {
      const trusted = trust();
      if (isShared(peer, trusted)) return null;
      return perAddress.take(networkOf(clientAddress(peer, headers, trusted)));
    },
  };
};
