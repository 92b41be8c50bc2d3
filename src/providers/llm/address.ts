import { createEgress, hostAndPort, parseUrl, whyRefused } from '../../kernel/egress.js';

/**
 * Returns the reason why an admin may not set this address for a model; null if it is allowed. A
 * private address is allowed, a metadata service never is.
 */
export const faultOfAddress = (baseUrl: string): string | null => {
  const check = (): void => {
    const url = parseUrl(baseUrl);
    createEgress([hostAndPort(baseUrl)]).check(url);
  };
  return whyRefused(check) ?? faultOfPath(parseUrl(baseUrl));
};

const faultOfPath = ({ search, hash }: URL): string | null =>
  search || hash ? 'ends with its path' : null;
