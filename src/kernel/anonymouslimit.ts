import { clientAddress, isShared, type ProxyTrust } from './clientaddress.js';
import type { Clock } from './clock.js';
import { type Allowance, createRate, getNetworkPrefix } from './rate.js';

export type AnonymousLimit = ReturnType<typeof createAnonymousLimit>;

export const createAnonymousLimit = (
  perMinute: number,
  { clock, trust }: { clock: Clock; trust(): ProxyTrust },
) => {
  const perAddress = createRate(perMinute, clock);
  return {
    take: (peer: string, headers: Record<string, unknown>): Allowance | null => {
      const trusted = trust();
      if (isShared(peer, trusted)) return null;
      return perAddress.take(getNetworkPrefix(clientAddress(peer, headers, trusted)));
    },
  };
};
