import { randomBytes } from 'node:crypto';

/** 32 characters, so that five random bits choose one evenly. No two of them look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 6;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** Makes a code that a person types; it has 30 random bits. */
export const newCode = (): string =>
  [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte & 31]).join('');

/** Normalises a typed code to the form in which it was shown; null if it cannot be a code. */
export const readCode = (typed: string): string | null => {
  const code = typed.trim().toUpperCase();
  return CODE.test(code) ? code : null;
};
