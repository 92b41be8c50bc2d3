import { domainToASCII } from 'node:url';
import { isPublic, parseAddress } from '../../kernel/address.js';
import { resultsIn } from './authresults.js';

export interface HeaderField {
  name: string;
  value: string;
}

/** RFC 5322, 2.2.3. */
export const parseHeaderFields = (header: string): HeaderField[] =>
  header
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name: name.toLowerCase(), value: (value ?? '').trim() }];
    });

/** Topmost authentication results (RFC 8601, 2.5). Only for a message to oneself. null: none. */
export const parseAuthservId = (header: string): string | null => {
  const field = parseHeaderFields(header).find(({ name }) => name === 'authentication-results');
  return field ? resultsIn(field.value).authservId : null;
};

export interface MailAuthentication {
  spf: string;
  dkim: string;
  dmarc: string;
}

interface AuthenticatedMail {
  authservId: string | null;
  /** Address of the only sender; '' if there is none, or several. */
  from: string;
}

/**
 * Topmost results with the server's name above the first `Received` from another server, since
 * everything below can be forged. null never counts as a pass.
 */
export const authenticationIn = (
  fields: HeaderField[],
  { authservId, from }: AuthenticatedMail,
): MailAuthentication | null => {
  if (authservId === null) return null;
  for (const { name, value } of fields) {
    if (name === 'received' && isForeign(value)) return null;
    if (name !== 'authentication-results') continue;
    const results = resultsIn(value);
    if (results.authservId !== authservId.toLowerCase()) continue;
    const { spf, dkim, dmarc } = results;
    const domain = domainToASCII(from.slice(from.lastIndexOf('@') + 1));
    return { spf: spf(), dkim: dkim(domain), dmarc: dmarc(domain) };
  }
  return null;
};

/**
 * False for hops within a machine or a private network. All addresses before the last `by` must be
 * private, since the first may be the name that the sender gave itself (HELO).
 */
const isForeign = (received: string): boolean => {
  const [, from] = /^from\s(.*?)(?:\sby\s(?!.*\sby\s)|$)/i.exec(received) ?? [];
  if (from === undefined) return false;
  const named = from.match(/\[[^\]]*\]|(?<![\w.:-])[0-9a-f]*[.:][0-9a-f.:]+(?![\w.:-])/gi) ?? [];
  const addresses = named.map((text) => parseAddress(text.replace(/^\[IPv6:/i, '[')));
  return addresses.length === 0 || addresses.some((one) => one === null || isPublic(one));
};
