import {
  createHmac,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  verify as verifyWithKey,
} from 'node:crypto';
import { memberAt, parsedJson, textAt } from '../../kernel/jsonvalue.js';
import { type Headers, headerText, isSame } from '../../kernel/signature.js';
import type { SignatureEncoding, SignatureRecipe } from './recipe.js';
import { signedBytes } from './signedtext.js';

export interface SenderRequest {
  headers: Headers;
  body: Buffer;
  url: string | null;
  now: number;
  /** Cached. `value` is undefined if the body is not JSON. */
  json?: { value: unknown };
}

const TOLERANCE_S = 300;
const MAX_SIGNATURES = 16;
const MAX_HEADER_LENGTH = 4096;
/** Longer numbers are in milliseconds. */
const SECONDS_DIGITS = 11;
const ISO_8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const WHSEC = /^whsec_([A-Za-z0-9+/]{2,}={0,2})$/;
/** Bytes before the 32 bytes of the key in a SubjectPublicKeyInfo (RFC 8410, section 4). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** As received. Undefined if the sender signs no time. */
export const readSignedTimestamp = (
  recipe: SignatureRecipe,
  headers: Headers,
): string | undefined => {
  if (!recipe.signed?.includes('{timestamp}')) return undefined;
  return signaturesIn(recipe, headerText(headers, recipe.header) ?? '', headers).timestamp;
};

export const isSignedBy = (
  recipe: SignatureRecipe,
  key: KeyObject,
  request: SenderRequest,
): boolean => {
  const header = headerText(request.headers, recipe.header);
  if (!header || header.length > MAX_HEADER_LENGTH) return false;
  if (recipe.algorithm === 'token') return isToken(recipe, key, header);
  if (recipe.algorithm === 'basic') return isBasic(key, header);
  if (recipe.algorithm === 'client-state') return hasClientState(key, request);
  const { signatures, timestamp } = signaturesIn(recipe, header, request.headers);
  if (signatures.length === 0 || !isTimely(recipe, timestamp, request.now)) return false;
  const signed = signedBytes(recipe, { ...request, timestamp });
  if (signed === null) return false;
  return isAnyValid(recipe, key, { signed, signatures }) && isBodyTimely(recipe, request);
};

const isToken = ({ prefix = '' }: SignatureRecipe, key: KeyObject, header: string): boolean =>
  header.startsWith(prefix) &&
  isSameText(Buffer.from(header.slice(prefix.length), 'latin1'), key.export());

const isBasic = (key: KeyObject, header: string): boolean => {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1];
  return encoded !== undefined && isSameText(Buffer.from(encoded, 'base64'), key.export());
};

/** Microsoft Graph: `clientState` of each notification. */
const hasClientState = (key: KeyObject, request: SenderRequest): boolean => {
  const notifications = memberAt(getRequestJson(request), 'value');
  if (!Array.isArray(notifications) || notifications.length === 0) return false;
  const secret = key.export();
  return notifications.every((each) =>
    isSameText(Buffer.from(textAt(each, 'clientState') ?? ''), secret),
  );
};

const getRequestJson = (request: SenderRequest): unknown => {
  request.json ??= { value: parsedJson(request.body.toString('utf8')) };
  return request.json.value;
};

const isSameText = (given: Buffer, wanted: Buffer): boolean =>
  wanted.length > 0 && isSame(given, wanted);

interface FoundSignatures {
  signatures: string[];
  /** As received. Undefined if absent. */
  timestamp: string | undefined;
}

const signaturesIn = (
  { format = 'plain', parts, prefix = '', timestampHeader }: SignatureRecipe,
  header: string,
  headers: Headers,
): FoundSignatures => {
  const ownTime = timestampHeader === undefined ? undefined : headerText(headers, timestampHeader);
  if (format === 'pairs') {
    const pairs = header.split(/[,;]/).map((part) => part.trim().split(/=(.*)/s, 2));
    const values = (name: string | undefined) =>
      pairs.filter(([each]) => each === name).map(([, value = '']) => value);
    const [timestamp = ownTime] = values(parts?.timestamp);
    return { signatures: values(parts?.signature).slice(0, MAX_SIGNATURES), timestamp };
  }
  const separator = prefix.includes(',') ? ' ' : /[\s,]+/;
  const signatures = (format === 'list' ? header.split(separator) : [header])
    .slice(0, MAX_SIGNATURES)
    .filter((each) => each.startsWith(prefix))
    .map((each) => each.slice(prefix.length));
  return { signatures, timestamp: ownTime };
};

const isTimely = (
  { signed = '', toleranceSeconds }: SignatureRecipe,
  timestamp: string | undefined,
  now: number,
): boolean => !signed.includes('{timestamp}') || isNear(timestamp, now, toleranceSeconds);

export const isNear = (
  time: string | undefined,
  now: number,
  toleranceSeconds = TOLERANCE_S,
): boolean =>
  time !== undefined && Math.abs(now - parseTimestampMs(time)) <= toleranceSeconds * 1000;

const parseTimestampMs = (time: string): number => {
  if (ISO_8601.test(time)) return Date.parse(time);
  // No leading zero: without a separator, the signed text before the time could lend it one.
  if (!/^[1-9]\d{0,13}$/.test(time)) return Number.NaN;
  return Number(time) * (time.length > SECONDS_DIGITS ? 1 : 1000);
};

/** True if the sender signs no time in the body. */
export const isBodyTimely = (
  { timestampFrom, toleranceSeconds }: SignatureRecipe,
  request: SenderRequest,
): boolean => {
  if (timestampFrom === undefined) return true;
  const found = memberAt(getRequestJson(request), ...timestampFrom.split('.').slice(1));
  const isTime = typeof found === 'number' || typeof found === 'string';
  return isTime && isNear(String(found), request.now, toleranceSeconds);
};

/** A secret may stand for several keys. */
const isAnyValid = (
  recipe: SignatureRecipe,
  key: KeyObject,
  { signed, signatures }: { signed: Buffer; signatures: string[] },
): boolean => {
  const { algorithm, encoding = 'hex' } = recipe;
  if (!isHashed(algorithm)) return false;
  const given = signatures.flatMap((each) => decoded(each, encoding) ?? []);
  if (algorithm === 'ed25519') {
    const publicKey = ed25519Key(key, encoding);
    return publicKey !== null && given.some((each) => verifyWithKey(null, signed, publicKey, each));
  }
  return keysIn(recipe, key).some((each) => {
    const wanted = createHmac(algorithm, each).update(signed).digest();
    return given.some((bytes) => isSame(bytes, wanted));
  });
};

const isHashed = (
  algorithm: SignatureRecipe['algorithm'],
): algorithm is 'sha1' | 'sha256' | 'sha512' | 'ed25519' =>
  ['sha1', 'sha256', 'sha512', 'ed25519'].includes(algorithm);

/** Strict: invalid characters make the signature invalid. */
const decoded = (text: string, encoding: SignatureEncoding): Buffer | null => {
  const isCut = encoding !== 'hex' && text.replace(/=+$/, '').length % 4 === 1;
  return ENCODED[encoding].test(text) && !isCut ? Buffer.from(text, encoding) : null;
};

const ENCODED: Record<SignatureEncoding, RegExp> = {
  hex: /^(?:[0-9a-f]{2})+$/i,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
};

/**
 * Points of small order from libsodium, without the sign bit. With such a key, signatures exist
 * that fit any text.
 */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** Null if the text is not a key, or one of small order. */
export const ed25519Bytes = (text: string, encoding: SignatureEncoding): Buffer | null => {
  const raw = decoded(text, encoding);
  if (raw?.length !== 32) return null;
  const unsigned = Buffer.from(raw);
  unsigned[31] = (unsigned[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(unsigned.toString('hex')) ? null : raw;
};

const ed25519Key = (key: KeyObject, encoding: SignatureEncoding): KeyObject | null => {
  const raw = ed25519Bytes(key.export().toString(), encoding);
  if (raw === null) return null;
  const der = Buffer.concat([ED25519_PREFIX, raw]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
};

/** Bytes of the shortest key. 0 if the secret is not a key. */
export const keyLength = (recipe: SignatureRecipe, secret: string): number => {
  const lengths = keysIn(recipe, createSecretKey(Buffer.from(secret))).map((key) =>
    Buffer.isBuffer(key) ? key.length : (key.symmetricKeySize ?? 0),
  );
  return lengths.length === 0 ? 0 : Math.min(...lengths);
};

/** Never returns the empty key, which everybody knows. */
export const keysIn = (
  { key: form = 'raw' }: SignatureRecipe,
  key: KeyObject,
): (KeyObject | Buffer)[] => {
  if (form === 'raw') return [key];
  const text = key.export().toString();
  const encoded = form === 'whsec' ? WHSEC.exec(text)?.[1] : text;
  const bytes = encoded === undefined ? null : decoded(encoded, 'base64');
  if (bytes === null || bytes.length === 0) return form === 'whsec' ? [key] : [];
  return form === 'whsec' ? [key, bytes] : [bytes];
};
