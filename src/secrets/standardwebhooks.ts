import { createHmac, randomBytes } from 'node:crypto';
import type { Secret } from './secret.js';

const PREFIX = 'whsec_';
const SPELT = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const NEW_BYTES = 32;
const FEWEST_BYTES = 24;
const MOST_BYTES = 64;

/** A secret as Standard Webhooks spells it: `whsec_`, then the key in base64. */
export const newSecret = (): string => `${PREFIX}${randomBytes(NEW_BYTES).toString('base64')}`;

/** What is wrong with a secret that is to be, or null. Of a vault entry any text may be the key. */
export const faultOfSecret = (value: string, mayBePlain = false): string | null => {
  if (!mayBePlain && !SPELT.test(value)) return 'must be whsec_ and a key in base64';
  const { length } = keyIn(Buffer.from(value));
  if (length >= FEWEST_BYTES && length <= MOST_BYTES) return null;
  return `must hold a key of ${FEWEST_BYTES} to ${MOST_BYTES} bytes, and holds one of ${length}`;
};

/**
 * The key of a secret: what stands behind `whsec_`, decoded. Ours: a vault entry that is spelt in
 * another way is a key as it is, which the receivers here take it for, too.
 */
export const secretKey = (secret: Secret): Buffer => secret.take(keyIn);

/** The same of a secret as it is spelt. */
export const keySpelt = (secret: string): Buffer => keyIn(Buffer.from(secret));

const keyIn = (bytes: Buffer): Buffer => {
  const encoded = SPELT.exec(bytes.toString())?.[1];
  return encoded === undefined ? Buffer.from(bytes) : Buffer.from(encoded, 'base64');
};

/** What is signed: the message's id, the time of this attempt in seconds since 1970, its body. */
export interface SignedMessage {
  id: string;
  timestamp: number;
  body: string;
}

/** Standard Webhooks: one signature for each key, apart by a space. */
export const signaturesOf = (keys: Buffer[], { id, timestamp, body }: SignedMessage): string =>
  keys
    .map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((mac) => `v1,${mac}`)
    .join(' ');
