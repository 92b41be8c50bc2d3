import { BadUrl, createEgress, EgressRefused, hostAndPort, parseUrl } from '../../kernel/egress.js';

/**
 * Returns the reason why an admin may not set this address for a model; null if it is allowed. A
 * private address is allowed, a metadata service never is.
 */
export const faultOfAddress = (baseUrl: string): string | null => {
  try {
    const url = parseUrl(baseUrl);
    createEgress([hostAndPort(baseUrl)]).check(url);
    return url.search || url.hash ? 'ends with its path' : null;
  } catch (error) {
    if (error instanceof BadUrl || error instanceof EgressRefused) return error.message;
    throw error;
  }
};
