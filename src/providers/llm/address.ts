import { BadUrl, createEgress, EgressRefused, parseUrl, portOf } from '../../kernel/egress.js';

/** Returns the host and port of a URL in the form of the allow list of a call. Throws BadUrl. */
export const ownAddress = (url: string): string => {
  const parsed = parseUrl(url);
  return `${parsed.hostname}:${portOf(parsed)}`;
};

/**
 * Returns the reason why an admin may not set this address for a model; null if it is allowed. A
 * private address is allowed, a metadata service never is.
 */
export const faultOfAddress = (baseUrl: string): string | null => {
  try {
    const url = parseUrl(baseUrl);
    createEgress([ownAddress(baseUrl)]).check(url);
    return url.search || url.hash ? 'ends with its path' : null;
  } catch (error) {
    if (error instanceof BadUrl || error instanceof EgressRefused) return error.message;
    throw error;
  }
};
