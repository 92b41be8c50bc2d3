import { randomBytes } from 'node:crypto';

/** 32 of them, so that five bits of chance choose one evenly; none that looks like another. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 6;
const CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** A code that a person types: 30 bits. */
export const newCode = (): string =>
  [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte & 31]).join('');

/** What was typed, as the code was shown; null: it can be none. */
export const readCode = (typed: string): string | null => {
  const code = typed.trim().toUpperCase();
  return CODE.test(code) ? code : null;
};
