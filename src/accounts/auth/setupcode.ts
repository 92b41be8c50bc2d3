import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Boom from '@hapi/boom';
import type { Clock } from '../../kernel/clock.js';
import { writeDurably } from '../../kernel/durable.js';
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
 * The code is needed if no request can prove that it comes from this machine. It is new at each start,
 * so that a leaked code is not valid for longer.
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
    /** Returns null if no code is needed, or the first account exists. */
    shown: () => (code === null ? null : { code, file }),
    /** Throws 403 for a wrong code, and 429 after five wrong ones in a minute from all clients. */
    check: (input: string): void => {
      const now = clock.now();
      wrongAt = wrongAt.filter((at) => at <= now && now < at + WINDOW_MS);
      const [first] = wrongAt;
      if (first !== undefined && wrongAt.length >= MAX_WRONG) {
        throw tooMany(Math.ceil((first + WINDOW_MS - now) / 1000));
      }
      if (code !== null && isSame(input, code)) return;
      wrongAt.push(now);
      throw setupCodeRefused();
    },
    /** Called when the first account exists. */
    end: (): void => {
      code = null;
      rmSync(file, { force: true });
    },
  };
};

export type SetupCode = ReturnType<typeof openSetupCode>;

/** 128 bits as eight groups of four hexadecimal digits. */
const newCode = (): string =>
  randomBytes(BYTES)
    .toString('hex')
    .replace(/.{4}(?=.)/g, '$&-');

/** Throws OpenRefused on failure, since nobody could read the code. */
const write = (file: string, code: string): void => {
  try {
    writeDurably(file, `${code}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OpenRefused(
      `Cannot write ${file}, the file with the setup code for the first account: ${why}. Remove the cause, then start the daemon again`,
    );
  }
};

/** Ignores case, spaces and hyphens. Digests always have the same length. */
const isSame = (input: string, code: string): boolean =>
  timingSafeEqual(computeDigest(input), computeDigest(code));
const computeDigest = (code: string): Buffer =>
  createHash('sha256').update(code.toLowerCase().replace(/[\s-]/g, '')).digest();

/** Also used if the first account was created meanwhile. */
export const setupCodeRefused = (): Boom.Boom =>
  Boom.forbidden(
    'The setup code is wrong, or the first account already exists. Use the code of the last start: each start of the daemon creates a new code',
    { code: 'setup_code_refused' },
  );

const tooMany = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many wrong setup codes. Try again in ${retryAfter} s`, {
    code: 'too_many_setup_codes',
    retryAfter,
  });
