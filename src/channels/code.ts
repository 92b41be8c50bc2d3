import { randomBytes } from 'node:crypto';

/** 32 characters, so that five random bits select one evenly. No two look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 6;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** 30 random bits. */
export const newCode = (): string =>
  [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte & 31]).join('');

/** Normalizes a typed code; null if it cannot be a code. */
export const readCode = (typed: string): string | null => {
  const code = typed.trim().toUpperCase();
  return CODE.test(code) ? code : null;
};
