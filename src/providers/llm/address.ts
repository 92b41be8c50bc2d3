import { createEgress, getEgressRefusal, hostAndPort, parseUrl } from '../../kernel/egress.js';

/** A private address is permitted. A metadata service never is. */
export const addressFault = (baseUrl: string): string | null => {
  const check = (): void => {
    const url = parseUrl(baseUrl);
    createEgress([hostAndPort(baseUrl)]).check(url);
  };
  return getEgressRefusal(check) ?? faultOfPath(parseUrl(baseUrl));
};

const faultOfPath = ({ search, hash }: URL): string | null =>
  search || hash ? 'must not have a query string or fragment' : null;
