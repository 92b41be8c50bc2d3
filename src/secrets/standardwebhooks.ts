import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from './secret.js';

const PREFIX = 'whsec_';
const SPELT = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const NEW_BYTES = 32;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** Returns a new secret in the form of Standard Webhooks: `whsec_`, then the key in base64. */
export const newSecret = (): string => `${PREFIX}${randomBytes(NEW_BYTES).toString('base64')}`;

/**
 * Returns the fault of a new secret, or null. With `mayBePlain`, for a vault entry, any text may be
 * the key.
 */
export const faultOfSecret = (value: string, mayBePlain = false): string | null => {
  if (!mayBePlain && !SPELT.test(value)) return 'must be whsec_ and a key in base64';
  const { length } = keyIn(Buffer.from(value));
  if (length >= MIN_BYTES && length <= MAX_BYTES) return null;
  return `must hold a key of ${MIN_BYTES} to ${MAX_BYTES} bytes, and holds one of ${length}`;
};

/**
 * Returns the key of a secret: the part behind `whsec_`, decoded. Ours: a vault entry in another
 * form is a key as it stands. The inbound webhooks here read it the same way.
 */
export const secretKey = (secret: Secret): Buffer => secret.take(keyIn);

/** Returns the key of a secret that is given as text. */
export const keySpelt = (secret: string): Buffer => keyIn(Buffer.from(secret));

const keyIn = (bytes: Buffer): Buffer => {
  const encoded = SPELT.exec(bytes.toString())?.[1];
  return encoded === undefined ? Buffer.from(bytes) : Buffer.from(encoded, 'base64');
};

/**
 * The signed data: the message's ID, the time of this attempt in seconds since 1970, and its body.
 */
export interface SignedMessage {
  id: string;
  timestamp: number;
  body: string;
}

/** Returns the signatures of Standard Webhooks, one for each key, separated by spaces. */
export const signaturesOf = (keys: Buffer[], { id, timestamp, body }: SignedMessage): string =>
  keys
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((mac) => `v1,${mac}`)
    .join(' ');
