import { isPublic, parseAddress } from '../../kernel/address.js';
import { resultsIn } from './authresults.js';

/** One field of a header, unfolded. */
export interface HeaderField {
  name: string;
  value: string;
}

/** Returns the fields of a header in their order (RFC 5322, 2.2.3). */
export const fieldsOf = (header: string): HeaderField[] =>
  header
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name: name.toLowerCase(), value: (value ?? '').trim() }];
    });

/**
 * Returns the name of the server that wrote the topmost authentication results (RFC 8601, 2.5). It is
 * meant for a message to oneself, which nobody else has written. Null: there are none.
 */
export const authservIdOf = (header: string): string | null => {
  const field = fieldsOf(header).find(({ name }) => name === 'authentication-results');
  return field ? resultsIn(field.value).authservId : null;
};

/** The findings of a receiving server about the sender of a message. */
export interface MailAuthentication {
  spf: string;
  dkim: string;
  dmarc: string;
}

/** The server that is believed, and the sender about whom it found something. */
interface AuthenticatedMail {
  authservId: string | null;
  /** The address in `From`; '' if there is none. */
  from: string;
}

/**
 * Returns the results that the server of the account wrote: the topmost with its name, above the first
 * `Received` by which the message came from elsewhere, since all below may be the sender's own. Null:
 * there are none, which never counts as a pass.
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
    return { spf: spf(), dkim: dkim(from.slice(from.lastIndexOf('@') + 1)), dmarc: dmarc() };
  }
  return null;
};

/** True unless the hop was within a machine or a private network, as the receiver saw it. */
const isForeign = (received: string): boolean => {
  if (!/(?:^|\s)from\s/i.test(received)) return false;
  const [, address] = /\[(?:IPv6:)?([0-9a-f.:]{2,45})\]/i.exec(received) ?? [];
  const parsed = address === undefined ? null : parseAddress(address);
  return parsed === null || isPublic(parsed);
};
