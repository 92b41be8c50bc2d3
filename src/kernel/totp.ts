import { randomInt } from 'node:crypto';

const PERIOD_S = 30;
const MAX_SKEW_STEPS = 10;
const ISSUER = 'Adjutant';
const CODE = /^\d{6}$/;
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

const library = () => import('otplib');

/** Base32, 160 bits (RFC 4226, section 4). */
export const newTotpSecret = async (): Promise<string> => (await library()).generateSecret();

export const otpauthUrl = async (secret: string, username: string): Promise<string> =>
  (await library()).generateURI({ issuer: ISSUER, label: username, secret });

/**
 * RFC 6238, at most one step off. Steps up to `after` are used up, so that no code works twice.
 * `now` in milliseconds.
 */
export const matchTotp = async (
  secret: string,
  code: string,
  { now, after }: { now: number; after: number | null },
): Promise<number | null> => {
  const matched = await verified({ secret, code, now, toleranceSeconds: PERIOD_S, after });
  return matched?.timeStep ?? null;
};

/**
 * Seconds by which the clock of a code is ahead, at most five minutes. Null if no such clock fits.
 * `now` in milliseconds.
 */
export const totpSkew = async (
  secret: string,
  code: string,
  now: number,
): Promise<number | null> => {
  const toleranceSeconds = MAX_SKEW_STEPS * PERIOD_S;
  const matched = await verified({ secret, code, now, toleranceSeconds, after: null });
  if (matched === null) return null;
  return (matched.timeStep - Math.floor(now / 1000 / PERIOD_S)) * PERIOD_S;
};

interface CodeToVerify {
  secret: string;
  code: string;
  now: number;
  toleranceSeconds: number;
  after: number | null;
}

const verified = async ({
  secret,
  code,
  now,
  toleranceSeconds,
  after,
}: CodeToVerify): Promise<{ timeStep: number } | null> => {
  const token = asciiDigits(code);
  if (!CODE.test(token)) return null;
  const result = await (await library()).verify({
    secret,
    token,
    epoch: Math.floor(now / 1000),
    epochTolerance: toleranceSeconds,
    ...(after !== null && { afterTimeStep: after }),
  });
  return result.valid && 'timeStep' in result ? { timeStep: result.timeStep } : null;
};

/** A code as apps show it and keyboards write it: with blanks, dashes or digits of another script. */
const asciiDigits = (code: string): string =>
  code
    .normalize('NFKC')
    .replace(/[\s\p{Pd}\p{Cf}]/gu, '')
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));

/** Unicode encodes the digits of a script in a row, from 0 to 9. */
const digitValue = (digit: string): number => {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
  return value;
};

/** 79 bits, so that its digest reveals nothing, even with access to the database. */
export const newRecoveryCode = (): string =>
  `${letters(4)}-${letters(4)}-${letters(4)}-${letters(4)}`;

const letters = (count: number): string =>
  Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
