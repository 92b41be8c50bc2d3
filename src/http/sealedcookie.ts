import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const PAGE_KEY = /^[\w-]{43}$/;

/**
 * Browsers send cookies to every port of a host. Without the key, which the page keeps for its
 * origin, the cookie is useless.
 */
export const sealToken = (token: string): { sealed: string; key: string } => {
  const key = randomBytes(KEY_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  const text = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
  const sealed = Buffer.concat([nonce, cipher.getAuthTag(), text]);
  return { sealed: sealed.toString('base64url'), key: key.toString('base64url') };
};

export const openSealed = (sealed: string, key: string): string | undefined => {
  const bytes = Buffer.from(sealed, 'base64url');
  if (!PAGE_KEY.test(key) || bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, Buffer.from(key, 'base64url'), nonce);
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
};
