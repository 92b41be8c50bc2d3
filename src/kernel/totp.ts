import { randomInt } from 'node:crypto';

const PERIOD_S = 30;
/** The time steps by which a clock may be off to be recognized as such. */
const MAX_SKEW_STEPS = 10;
const ISSUER = 'Adjutant';
const CODE = /^\d{6}$/;
/** Letters and digits, without those that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

const library = () => import('otplib');

/** Returns a new secret, base32, 160 bits (RFC 4226, section 4). */
export const newTotpSecret = async (): Promise<string> => (await library()).generateSecret();

/** Returns the URL that an authenticator app reads from the QR code. */
export const otpauthUrl = async (secret: string, username: string): Promise<string> =>
  (await library()).generateURI({ issuer: ISSUER, label: username, secret });

/**
 * Returns the time step that a code belongs to (RFC 6238), at most one step off, or null. Steps up
 * to `after` are used up: a code that was used once matches nothing. `now` is in milliseconds.
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
 * Returns by how many seconds the clock that made a code is ahead of `now`, and below 0 behind, if
 * it is at most five minutes off. Null: the code fits no such clock. `now` is in milliseconds.
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
  if (!CODE.test(code)) return null;
  const result = await (await library()).verify({
    secret,
    token: code,
    epoch: Math.floor(now / 1000),
    epochTolerance: toleranceSeconds,
    ...(after !== null && { afterTimeStep: after }),
  });
  return result.valid && 'timeStep' in result ? { timeStep: result.timeStep } : null;
};

/**
 * Returns four groups of four characters, 79 bits: enough that its digest reveals nothing, even to
 * somebody who has the database.
 */
export const newRecoveryCode = (): string =>
  `${letters(4)}-${letters(4)}-${letters(4)}-${letters(4)}`;

const letters = (count: number): string =>
  Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
