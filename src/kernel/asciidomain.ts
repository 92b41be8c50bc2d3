import { domainToASCII } from 'node:url';

/** The address with its domain as in the DNS (RFC 5890), which every mail server accepts. */
export const withAsciiDomain = (address: string): string => {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
};

/** Behind `@` or `//`. */
const DOMAIN = /(?<=@|\/\/)[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/gu;

/**
 * A line for each domain with letters that may look like others: the domain, and its form in the
 * DNS.
 */
export const describeDomains = (value: unknown): string[] => {
  const found = new Set(JSON.stringify(value).match(DOMAIN) ?? []);
  return [...found].flatMap((domain) => {
    const ascii = domainToASCII(domain);
    return ascii === domain.toLowerCase() ? [] : [`Domain ${domain} is ${ascii || 'not valid'}`];
  });
};
