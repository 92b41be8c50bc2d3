import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { NamedError } from './failure.js';

/**
 * Envelope encryption with AES-256-GCM (NIST SP 800-38D): a new data key encrypts the value, the
 * master key encrypts the data key. `bound` (owner, row, version) is associated data, so a value
 * moved to another row cannot be decrypted. Format: `e1.<data key>.<value>`, each base64url of
 * nonce(12) ‖ ciphertext ‖ tag(16).
 */
export const seal = (masterKey: Buffer, bound: string, value: Buffer): string => {
  const dataKey = randomBytes(32);
  const sealed = `e1.${encrypt(masterKey, bound, dataKey)}.${encrypt(dataKey, bound, value)}`;
  dataKey.fill(0);
  return sealed;
};

export const unseal = (masterKey: Buffer, bound: string, sealed: string): Buffer => {
  const { wrapped, value } = parseSealed(sealed);
  const dataKey = decrypt(masterKey, bound, wrapped);
  try {
    return decrypt(dataKey, bound, value);
  } finally {
    dataKey.fill(0);
  }
};

export const rewrap = (
  { from, to }: { from: Buffer; to: Buffer },
  bound: string,
  sealed: string,
): string => {
  const { wrapped, value } = parseSealed(sealed);
  const dataKey = decrypt(from, bound, wrapped);
  const rewrapped = `e1.${encrypt(to, bound, dataKey)}.${value}`;
  dataKey.fill(0);
  return rewrapped;
};

export class EnvelopeError extends NamedError {
  constructor() {
    super('A sealed value cannot be decrypted with this master key');
  }
}

/** Null if the value is damaged, so that one damaged value does not block the others. */
export const unsealOrNull = <T>(open: () => T): T | null => {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error;
    return null;
  }
};

const parseSealed = (sealed: string): { wrapped: string; value: string } => {
  const [form, wrapped, value] = sealed.split('.');
  if (form !== 'e1' || !wrapped || !value) throw new EnvelopeError();
  return { wrapped, value };
};

const encrypt = (key: Buffer, bound: string, plain: Buffer): string => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
};

const decrypt = (key: Buffer, bound: string, packed: string): Buffer => {
  const bytes = Buffer.from(packed, 'base64url');
  if (bytes.length < 28) throw new EnvelopeError();
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    .setAAD(Buffer.from(bound))
    .setAuthTag(bytes.subarray(-16));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  } catch {
    throw new EnvelopeError();
  }
};
