import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

export type Headers = Record<string, string | undefined>;

/** Undefined if absent or a list, as for `set-cookie`. */
export const headerText = (headers: Headers, name: string): string | undefined => {
  const value: unknown = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'string' ? value : undefined;
};

const TOLERANCE_MS = 5 * 60 * 1000;
const GITHUB = /^sha256=([0-9a-f]{64})$/i;
const STANDARD = /^v1,([A-Za-z0-9+/]{43}=)$/;
const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]{2,}={0,2})$/;
const MAX_SIGNATURES = 16;

export type SignatureScheme = 'standard' | 'svix' | 'stripe' | 'github';

/**
 * HMAC-SHA256 of the body. GitHub's `X-Hub-Signature-256` (spec: inbound webhook receiver) signs
 * only the body, the others also a time within 5 minutes. Schemes that sign an ID take precedence.
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

export const isSigned = (headers: Headers): boolean =>
  SIGNATURES.some((name) => headers[name] !== undefined);

const SIGNATURES = [
  'x-hub-signature-256',
  'webhook-signature',
  'svix-signature',
  'stripe-signature',
];

export const githubSignature = (key: KeyObject | string, body: Buffer | string): string =>
  `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;

/** Constant time. Lengths may differ. */
export const isSame = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && timingSafeEqual(a, b);

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

/** HMAC of `id.timestamp.body` in base64, several signatures separated by spaces. */
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
 * `whsec_<base64>`. Invalid base64 gives no key, because it would decode to fewer bytes, at worst
 * to the empty key that everybody knows.
 */
const standardKeys = (key: KeyObject): Buffer[] => {
  const encoded = STANDARD_SECRET.exec(key.export().toString())?.[1];
  return encoded === undefined ? [] : [Buffer.from(encoded, 'base64')];
};

/** `t=<seconds>,v1=<hex>[,v1=…]`, HMAC of `t.body`. */
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

export const stripeTime = (headers: Headers): string =>
  timeIn(stripeParts(headers['stripe-signature'] ?? '')) ?? '';

const stripeParts = (header: string): string[][] =>
  header.split(',').map((part) => part.trim().split('=', 2));

const timeIn = (parts: string[][]): string | undefined => parts.find(([name]) => name === 't')?.[1];

export const isTimely = (seconds: string, now: number): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(now - Number(seconds) * 1000) <= TOLERANCE_MS;
