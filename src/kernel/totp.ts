import { randomInt } from 'node:crypto';

const PERIOD_S = 30;
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
  if (!CODE.test(code)) return null;
  const result = await (await library()).verify({
    secret,
    token: code,
    epoch: Math.floor(now / 1000),
    epochTolerance: PERIOD_S,
    ...(after !== null && { afterTimeStep: after }),
  });
  return result.valid && 'timeStep' in result ? result.timeStep : null;
};

/**
 * Returns four groups of four characters, 79 bits: enough that its digest reveals nothing, even to
 * somebody who has the database.
 */
export const newRecoveryCode = (): string =>
  `${letters(4)}-${letters(4)}-${letters(4)}-${letters(4)}`;

const letters = (count: number): string =>
  Array.from({ length: count }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
