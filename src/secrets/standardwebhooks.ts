import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from './secret.js';

const PREFIX = 'whsec_';
const SPELT = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const NEW_BYTES = 32;
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** `whsec_` and a base64 key, as in Standard Webhooks. */
export const newSecret = (): string => `${PREFIX}${randomBytes(NEW_BYTES).toString('base64')}`;

/** Null if the secret is valid. With `mayBePlain`, for a vault credential, any text is accepted. */
export const secretFault = (value: string, mayBePlain = false): string | null => {
  if (!mayBePlain && !SPELT.test(value)) return 'must be whsec_ followed by a base64 key';
  const { length } = keyIn(Buffer.from(value));
  if (length >= MIN_BYTES && length <= MAX_BYTES) return null;
  return `must contain a key of ${MIN_BYTES} to ${MAX_BYTES} bytes, but contains ${length} bytes`;
};

/** Decodes the part after `whsec_`; text in another form is the key itself, also for inbound webhooks. */
export const secretKey = (secret: Secret): Buffer => secret.take(keyIn);

export const parseSecretKey = (secret: string): Buffer => keyIn(Buffer.from(secret));

const keyIn = (bytes: Buffer): Buffer => {
  const encoded = SPELT.exec(bytes.toString())?.[1];
  return encoded === undefined ? Buffer.from(bytes) : Buffer.from(encoded, 'base64');
};

/** `timestamp` is the time of the attempt in seconds since 1970. */
export interface SignedMessage {
  id: string;
  timestamp: number;
  body: string;
}

/** One signature per key, separated by spaces. */
export const computeSignatures = (keys: Buffer[], { id, timestamp, body }: SignedMessage): string =>
  keys
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((mac) => `v1,${mac}`)
    .join(' ');
