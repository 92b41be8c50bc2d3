import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Headers by lower-case name, as node:http returns them. */
export type Headers = Record<string, string | undefined>;

/**
 * Returns the value of a header, by its lower-case name; undefined if the request has none, or a
 * list of them, as node:http has for `set-cookie`.
 */
export const headerText = (headers: Headers, name: string): string | undefined => {
  const value: unknown = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'string' ? value : undefined;
};

const TOLERANCE_MS = 5 * 60 * 1000;
const GITHUB = /^sha256=([0-9a-f]{64})$/i;
const STANDARD = /^v1,([A-Za-z0-9+/]{43}=)$/;
const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]{2,}={0,2})$/;
const MAX_SIGNATURES = 16;

/**
 * A signature scheme. `standard` is Standard Webhooks, and `svix` the same under its older names.
 */
export type SignatureScheme = 'standard' | 'svix' | 'stripe' | 'github';

/**
 * Returns the scheme whose signature in the request is the HMAC-SHA256 of the body under this key,
 * or null. GitHub's `X-Hub-Signature-256` (spec: inbound webhook receiver) signs the body only. The
 * others also sign a time, which may differ by 5 minutes. If several schemes verify, one that signs
 * an id comes first.
 */
export const verifySignature = (
  key: KeyObject,
  body: Buffer,
  headers: Headers,
  now: number,
): SignatureScheme | null => {
  const request = { body, headers, now };
  if (isStandard(key, request, 'webhook')) return 'standard';
  if (isStandard(key, request, 'svix')) return 'svix';
  if (isStripe(key, request)) return 'stripe';
  return isBodySigned(key, body, headers) ? 'github' : null;
};

/** True if the request has any signature that can be verified. */
export const isSigned = (headers: Headers): boolean =>
  SIGNATURES.some((name) => headers[name] !== undefined);

const SIGNATURES = [
  'x-hub-signature-256',
  'webhook-signature',
  'svix-signature',
  'stripe-signature',
];

/** Returns the value that GitHub would send in `X-Hub-Signature-256`. */
export const githubSignature = (key: KeyObject | string, body: Buffer | string): string =>
  `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;

/** True if the bytes are equal, compared in constant time. The lengths may differ. */
export const isSame = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && timingSafeEqual(a, b);

/** True if `X-Hub-Signature-256` is the HMAC of the body, as GitHub and Meta send it. */
export const isBodySigned = (
  key: KeyObject | string,
  body: Buffer,
  { 'x-hub-signature-256': header = '' }: Headers,
): boolean => {
  const hex = GITHUB.exec(header)?.[1];
  if (hex === undefined) return false;
  return isSame(Buffer.from(hex, 'hex'), createHmac('sha256', key).update(body).digest());
};

interface SignedRequest {
  body: Buffer;
  headers: Headers;
  now: number;
}

/**
 * True if a Standard Webhooks signature is valid: HMAC of `id.timestamp.body`, base64, several
 * signatures separated by a space.
 */
const isStandard = (
  key: KeyObject,
  { body, headers, now }: SignedRequest,
  prefix: 'webhook' | 'svix',
): boolean => {
  const id = headers[`${prefix}-id`];
  const at = headers[`${prefix}-timestamp`];
  const given = headers[`${prefix}-signature`];
  if (!id || !at || !given || !isTimely(at, now)) return false;
  const wanted = [key, ...standardKeys(key)].map((each) =>
    createHmac('sha256', each).update(`${id}.${at}.`).update(body).digest(),
  );
  return given
    .split(' ', MAX_SIGNATURES)
    .map((part) => Buffer.from(STANDARD.exec(part)?.[1] ?? '', 'base64'))
    .some((mac) => wanted.some((each) => isSame(mac, each)));
};

/**
 * Returns the key of a secret in the standard's format `whsec_<base64>`: the decoded bytes. Any
 * other text after the prefix gives no key, because it would decode to fewer bytes than it has, at
 * worst to the empty key that everybody knows.
 */
const standardKeys = (key: KeyObject): Buffer[] => {
  const encoded = STANDARD_SECRET.exec(key.export().toString())?.[1];
  return encoded === undefined ? [] : [Buffer.from(encoded, 'base64')];
};

/** True if a Stripe signature is valid: `t=<seconds>,v1=<hex>[,v1=…]`, HMAC of `t.body`. */
const isStripe = (key: KeyObject, { body, headers, now }: SignedRequest): boolean => {
  const header = headers['stripe-signature'];
  if (!header || header.length > 4096) return false;
  const parts = stripeParts(header);
  const at = timeIn(parts);
  if (!at || !isTimely(at, now)) return false;
  const wanted = createHmac('sha256', key).update(`${at}.`).update(body).digest();
  return parts
    .filter(([name, hex]) => name === 'v1' && /^[0-9a-f]{64}$/i.test(hex ?? ''))
    .some(([, hex]) => isSame(Buffer.from(hex ?? '', 'hex'), wanted));
};

/**
 * Returns the time that Stripe signs with the body, in seconds, as written in `Stripe-Signature`.
 */
export const stripeTime = (headers: Headers): string =>
  timeIn(stripeParts(headers['stripe-signature'] ?? '')) ?? '';

const stripeParts = (header: string): string[][] =>
  header.split(',').map((part) => part.trim().split('=', 2));

const timeIn = (parts: string[][]): string | undefined => parts.find(([name]) => name === 't')?.[1];

/** True if a time in seconds, as it was signed, is at most five minutes off. */
export const isTimely = (seconds: string, now: number): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(now - Number(seconds) * 1000) <= TOLERANCE_MS;
