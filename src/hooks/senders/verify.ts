import {
  createHmac,
  createPublicKey,
  type KeyObject,
  timingSafeEqual,
  verify as verifyWithKey,
} from 'node:crypto';
import type { Headers } from '../../kernel/signature.js';
import { memberAt, parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { isSignedBySns, snsMessageOf } from './sns.js';
import { piecesOf, type SignatureRecipe } from './recipe.js';

/** A request as its sender signed it. */
export interface SenderRequest {
  headers: Headers;
  body: Buffer;
  /** The public address, path and query as received; null if the daemon has no public address. */
  url: string | null;
  /** Milliseconds since 1970. */
  now: number;
  /** The certificate (PEM) that the message of SNS names, if it is one. */
  certificate?: string | null;
}

const TOLERANCE_S = 300;
const MOST_SIGNATURES = 16;
const LONGEST_HEADER = 4096;
/** A time of more digits is in milliseconds. */
const SECONDS_DIGITS = 11;
const WHSEC = /^whsec_([A-Za-z0-9+/]{2,}={0,2})$/;
/** What precedes the 32 bytes of an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410, section 4). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** Returns the time that the sender signs, as it was sent; undefined if it signs none. */
export const signedTimeOf = (recipe: SignatureRecipe, headers: Headers): string | undefined => {
  if (!recipe.signed?.includes('{timestamp}')) return undefined;
  return signaturesIn(recipe, headers[recipe.header] ?? '', headers).timestamp;
};

/** True if the request is a message of the topic that SNS itself signed. No secret is needed. */
export const isFromTopic = (recipe: SignatureRecipe, request: SenderRequest): boolean => {
  const message = snsMessageOf(recipe, request.body);
  const { certificate } = request;
  return message !== null && certificate != null && isSignedBySns(message, certificate);
};

/** True if the request carries the recipe's signature, or its token, under this key. */
export const isSignedBy = (
  recipe: SignatureRecipe,
  key: KeyObject,
  request: SenderRequest,
): boolean => {
  const header = request.headers[recipe.header];
  if (!header || header.length > LONGEST_HEADER) return false;
  if (recipe.algorithm === 'token') return isToken(recipe, key, header);
  if (recipe.algorithm === 'basic') return isBasic(key, header);
  if (recipe.algorithm === 'client-state') return hasClientState(key, request.body);
  if (recipe.algorithm === 'sns') return isFromTopic(recipe, request);
  const { signatures, timestamp } = signaturesIn(recipe, header, request.headers);
  if (signatures.length === 0 || !isTimely(recipe, timestamp, request.now)) return false;
  const signed = signedBytes(recipe, { ...request, timestamp });
  return signed !== null && signatures.some((given) => isValid(recipe, key, { signed, given }));
};

const isToken = ({ prefix = '' }: SignatureRecipe, key: KeyObject, header: string): boolean =>
  header.startsWith(prefix) &&
  isSameText(Buffer.from(header.slice(prefix.length), 'latin1'), key.export());

const isBasic = (key: KeyObject, header: string): boolean => {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  return encoded !== undefined && isSameText(Buffer.from(encoded, 'base64'), key.export());
};

/** Microsoft Graph: Receive change notifications, `clientState` of each. */
const hasClientState = (key: KeyObject, body: Buffer): boolean => {
  const notifications = memberAt(parsedJson(body.toString('utf8')), 'value');
  if (!Array.isArray(notifications) || notifications.length === 0) return false;
  const secret = key.export();
  return notifications.every((each) =>
    isSameText(Buffer.from(textAt(each, 'clientState') ?? ''), secret),
  );
};

const isSameText = (given: Buffer, wanted: Buffer): boolean =>
  wanted.length > 0 && given.length === wanted.length && timingSafeEqual(given, wanted);

interface FoundSignatures {
  signatures: string[];
  /** As it was sent; undefined if there is none. */
  timestamp: string | undefined;
}

const signaturesIn = (
  { format = 'plain', parts, prefix = '', timestampHeader }: SignatureRecipe,
  header: string,
  headers: Headers,
): FoundSignatures => {
  const ownTime = timestampHeader === undefined ? undefined : headers[timestampHeader];
  if (format === 'pairs') {
    const pairs = header.split(',').map((part) => part.trim().split(/=(.*)/s, 2));
    const values = (name: string | undefined) =>
      pairs.filter(([each]) => each === name).map(([, value = '']) => value);
    const [timestamp = ownTime] = values(parts?.timestamp);
    return { signatures: values(parts?.signature).slice(0, MOST_SIGNATURES), timestamp };
  }
  const all = format === 'list' ? header.split(/[\s,]+(?=\S)/) : [header];
  const joined = format === 'list' && prefix.includes(',') ? header.split(' ') : all;
  const signatures = joined
    .slice(0, MOST_SIGNATURES)
    .filter((each) => each.startsWith(prefix))
    .map((each) => each.slice(prefix.length));
  return { signatures, timestamp: ownTime };
};

const isTimely = (
  { signed = '', toleranceSeconds = TOLERANCE_S }: SignatureRecipe,
  timestamp: string | undefined,
  now: number,
): boolean => {
  if (!signed.includes('{timestamp}')) return true;
  if (timestamp === undefined || !/^\d{1,14}$/.test(timestamp)) return false;
  const ms = Number(timestamp) * (timestamp.length > SECONDS_DIGITS ? 1 : 1000);
  return Math.abs(now - ms) <= toleranceSeconds * 1000;
};

/** Returns the bytes that were signed; null if the request lacks a part of them. */
const signedBytes = (
  { signed = '{body}', idFrom = '' }: SignatureRecipe,
  { headers, body, url, timestamp }: SenderRequest & { timestamp: string | undefined },
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
        return headers[idFrom.replace(/^headers\./, '')];
      case 'url':
        return url;
      default:
        return formText(body);
    }
  }
};

/** Returns the fields of a form, sorted by name, each name followed by its value. */
const formText = (body: Buffer): string =>
  [...new URLSearchParams(body.toString('utf8'))]
    .toSorted(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => name + value)
    .join('');

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const isValid = (
  recipe: SignatureRecipe,
  key: KeyObject,
  { signed, given }: { signed: Buffer; given: string },
): boolean => {
  const { algorithm, encoding = 'hex' } = recipe;
  const bytes = decoded(given, encoding);
  if (bytes === null || !isHashed(algorithm)) return false;
  if (algorithm === 'ed25519') {
    const publicKey = ed25519Key(key, encoding);
    return publicKey !== null && verifyWithKey(null, signed, publicKey, bytes);
  }
  return keysIn(recipe, key).some((each) => {
    const wanted = createHmac(algorithm, each).update(signed).digest();
    return bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
  });
};

const isHashed = (
  algorithm: SignatureRecipe['algorithm'],
): algorithm is 'sha1' | 'sha256' | 'sha512' | 'ed25519' =>
  ['sha1', 'sha256', 'sha512', 'ed25519'].includes(algorithm);

/** Decodes a signature strictly: a text with any other character is none. */
const decoded = (text: string, encoding: 'hex' | 'base64'): Buffer | null => {
  const form = encoding === 'hex' ? /^(?:[0-9a-f]{2})+$/i : /^[A-Za-z0-9+/]+={0,2}$/;
  const isCut = encoding === 'base64' && text.replace(/=+$/, '').length % 4 === 1;
  return form.test(text) && !isCut ? Buffer.from(text, encoding) : null;
};

const ed25519Key = (key: KeyObject, encoding: 'hex' | 'base64'): KeyObject | null => {
  const raw = decoded(key.export().toString(), encoding);
  if (raw?.length !== 32) return null;
  const der = Buffer.concat([ED25519_PREFIX, raw]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
};

/** Returns the keys that a secret may mean. No form gives the empty key, which everybody knows. */
const keysIn = ({ key: form = 'raw' }: SignatureRecipe, key: KeyObject): (KeyObject | Buffer)[] => {
  if (form === 'raw') return [key];
  const text = key.export().toString();
  const encoded = form === 'whsec' ? WHSEC.exec(text)?.[1] : text;
  const bytes = encoded === undefined ? null : decoded(encoded, 'base64');
  if (bytes === null || bytes.length === 0) return form === 'whsec' ? [key] : [];
  return form === 'whsec' ? [key, bytes] : [bytes];
};
