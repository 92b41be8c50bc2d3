import { createHash } from 'node:crypto';
import { formFields, isBodyFault, parseCharset } from '../../kernel/bodytext.js';
import { type Headers, headerText } from '../../kernel/signature.js';
import { MAX_FORM_FIELDS, parseSignedTemplate, type SignatureRecipe } from './recipe.js';

export interface SignedParts {
  headers: Headers;
  body: Buffer;
  url: string | null;
  /** As received. Undefined if absent. */
  timestamp: string | undefined;
}

export const signedBytes = (
  { signed = '{body}', idFrom = '' }: SignatureRecipe,
  { headers, body, url, timestamp }: SignedParts,
): Buffer | null => {
  const pieces: Buffer[] = [];
  for (const piece of parseSignedTemplate(signed) ?? []) {
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

export const isForm = (headers: Headers): boolean => FORM_TYPE.test(headers['content-type'] ?? '');

/**
 * Form fields sorted by name, each name followed by its value. A body whose hash is in the URL has
 * no text (Twilio docs: Webhooks security, JSON bodies). Null for a wrong hash, another body or too
 * many fields.
 */
const formText = (headers: Headers, body: Buffer, url: string | null): string | null => {
  const hash = url === null ? null : hashIn(url);
  if (hash !== null) return hash === bodyHash(body) ? '' : null;
  if (!isForm(headers)) return null;
  const fields = parseFormValues(body, parseCharset(headers['content-type']));
  if (!fields) return null;
  return [...fields]
    .toSorted(([a], [b]) => compare(a, b))
    .flatMap(([name, values]) => [...values].sort(compare).map((value) => name + value))
    .join('');
};

const parseFormValues = (body: Buffer, charset: string | null): Map<string, Set<string>> | null => {
  if (countByte(body, AMPERSAND) >= MAX_FORM_FIELDS) return null;
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

/** Counts before decoding, and stops at the maximum number of fields. */
const countByte = (body: Buffer, byte: number): number => {
  let count = 0;
  for (let at = body.indexOf(byte); at >= 0; at = body.indexOf(byte, at + 1)) {
    if (++count >= MAX_FORM_FIELDS) return count;
  }
  return count;
};

const hashIn = (url: string): string | null =>
  new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('bodySHA256');

export const bodyHash = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
