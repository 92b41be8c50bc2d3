import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Boom from '@hapi/boom';
import type { Clock } from '../../kernel/clock.js';
import { writeWhole } from '../../kernel/durable.js';
import { OpenRefused } from '../../store/engine/protocol.js';

interface SetupDeps {
  home: string;
  clock: Clock;
  /** True if there is no account yet and the first one needs a code. */
  isNeeded: boolean;
}

const FILE = 'setup-code';
const BYTES = 16;
const MAX_WRONG = 5;
const WINDOW_MS = 60_000;

/**
 * Makes the code for the first account, if no request can prove that it comes from this machine. It
 * is new at each start, so that a code that was seen is not valid for longer.
 */
export const openSetupCode = ({ home, clock, isNeeded }: SetupDeps) => {
  const file = join(home, FILE);
  let code: string | null = null;
  let wrongAt: number[] = [];
  rmSync(file, { force: true });
  if (isNeeded) {
    code = newCode();
    write(file, code);
  }
  return {
    /** Returns the code for the operator; null if none is needed, or the first account exists. */
    shown: () => (code === null ? null : { code, file }),
    /**
     * Checks a code. Replies with 403 if it is wrong, and with 429 after five wrong ones within a
     * minute from all clients together.
     */
    check: (given: string): void => {
      const now = clock.now();
      wrongAt = wrongAt.filter((at) => at <= now && now < at + WINDOW_MS);
      const [first] = wrongAt;
      if (first !== undefined && wrongAt.length >= MAX_WRONG) {
        throw tooMany(Math.ceil((first + WINDOW_MS - now) / 1000));
      }
      if (code !== null && isSame(given, code)) return;
      wrongAt.push(now);
      throw refusedCode();
    },
    /** Called when the first account exists: removes the code and its file. */
    end: (): void => {
      code = null;
      rmSync(file, { force: true });
    },
  };
};

export type SetupCode = ReturnType<typeof openSetupCode>;

/** Makes a code of 128 bits, as eight groups of four hexadecimal digits. */
const newCode = (): string =>
  randomBytes(BYTES)
    .toString('hex')
    .replace(/.{4}(?=.)/g, '$&-');

/** Writes the file. Throws OpenRefused if that fails, since nobody could read the code. */
const write = (file: string, code: string): void => {
  try {
    writeWhole(file, `${code}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenRefused(`The setup code cannot be written: ${why}`);
  }
};

/**
 * Compares two codes without regard to case, spaces and hyphens. It compares digests, which always
 * have the same length.
 */
const isSame = (given: string, code: string): boolean =>
  timingSafeEqual(digestOf(given), digestOf(code));
const digestOf = (code: string): Buffer =>
  createHash('sha256').update(code.toLowerCase().replace(/[\s-]/g, '')).digest();

/** Builds the error for a wrong code, also used if the first account was made meanwhile. */
export const refusedCode = (): Boom.Boom =>
  Boom.forbidden(
    'That setup code is wrong, or the first account is there already. It is made anew at each start',
    { code: 'setup_code_refused' },
  );

const tooMany = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many wrong setup codes. Try again in ${retryAfter} s`, {
    code: 'too_many_setup_codes',
    retryAfter,
  });
