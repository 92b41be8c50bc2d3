import { createHash } from 'node:crypto';
import { charsetOf, formFields, isBodyFault } from '../../kernel/bodytext.js';
import { type Headers, headerText } from '../../kernel/signature.js';
import { MAX_FORM_FIELDS, piecesOf, type SignatureRecipe } from './recipe.js';

/** The parts of a request that a sender may sign. */
export interface SignedParts {
  headers: Headers;
  body: Buffer;
  /** The public address, path and query as received; null if the daemon has no public address. */
  url: string | null;
  /** As it was sent; undefined if there is none. */
  timestamp: string | undefined;
}

/** Returns the bytes that the sender signs; null if the request lacks a part of them. */
export const signedBytes = (
  { signed = '{body}', idFrom = '' }: SignatureRecipe,
  { headers, body, url, timestamp }: SignedParts,
): Buffer | null => {
  const pieces: Buffer[] = [];
  for (const piece of piecesOf(signed) ?? []) {
    const value = 'text' in piece ? piece.text : partOf(piece.placeholder);
    if (value === undefined || value === null) return null;
    pieces.push(typeof value === 'string' ? Buffer.from(value) : value);
  }
  return Buffer.concat(pieces);

  function partOf(placeholder: string): string | Buffer | null | undefined {
    switch (placeholder) {
      case 'body':
        return body;
      case 'timestamp':
        return timestamp;
      case 'id':
        return headerText(headers, idFrom.replace(/^headers\./, ''));
      case 'url':
        return url;
      default:
        return formText(headers, body, url);
    }
  }
};

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;

/** True for a body that is the fields of a form. */
export const isForm = (headers: Headers): boolean => FORM_TYPE.test(headers['content-type'] ?? '');

/**
 * Returns the fields of a form, sorted by name, each name followed by its value. A body whose hash
 * stands in the address is signed with that (Twilio docs: Webhooks security, JSON bodies): then
 * there is no text, and null if the hash is of another body. Any other body, and a form with more
 * fields than are read: null.
 */
const formText = (headers: Headers, body: Buffer, url: string | null): string | null => {
  const hash = url === null ? null : hashIn(url);
  if (hash !== null) return hash === bodyHash(body) ? '' : null;
  if (!isForm(headers)) return null;
  const fields = fieldsOf(body, charsetOf(headers['content-type']));
  if (!fields) return null;
  return [...fields]
    .toSorted(([a], [b]) => compare(a, b))
    .flatMap(([name, values]) => [...values].sort(compare).map((value) => name + value))
    .join('');
};

/**
 * Returns the different values of each field by name; null if the form has too many fields, or
 * cannot be read.
 */
const fieldsOf = (body: Buffer, charset: string | null): Map<string, Set<string>> | null => {
  if (countOf(body, AMPERSAND) >= MAX_FORM_FIELDS) return null;
  const given = formFields(body, charset);
  if (isBodyFault(given)) return null;
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of given) {
    const values = fields.get(name);
    if (values) values.add(value);
    else fields.set(name, new Set([value]));
  }
  return fields;
};

const AMPERSAND = 0x26;

/** Counts a byte, before anything is decoded. Stops at the most fields of a form. */
const countOf = (body: Buffer, byte: number): number => {
  let count = 0;
  for (let at = body.indexOf(byte); at >= 0; at = body.indexOf(byte, at + 1)) {
    if (++count >= MAX_FORM_FIELDS) return count;
  }
  return count;
};

const hashIn = (url: string): string | null =>
  new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('bodySHA256');

/** Returns the value of `bodySHA256` for a body. */
export const bodyHash = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
