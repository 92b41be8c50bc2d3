import { BadUrl, createEgress, EgressRefused, parseUrl, portOf } from '../../kernel/egress.js';

/** How the allow list of a call names the host and port of a URL. Errors: BadUrl. */
export const ownAddress = (url: string): string => {
  const parsed = parseUrl(url);
  return `${parsed.hostname}:${portOf(parsed)}`;
};

/**
 * Why an admin may not write this address of a model; null where he may. A private one is meant, a
 * metadata service never is.
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
