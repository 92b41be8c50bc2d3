import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createTurns, NoTurn } from './fairqueue.js';
import { networkOf } from './rate.js';

const AT_ONCE = 2;
const QUEUE = 50;
const MEASURED = 16;
/** The least that OWASP's Password Storage Cheat Sheet asks of argon2id (RFC 9106): 19 MiB, 2 passes. */
const COST = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

/** A hash of that cost that no password has. */
const decoyHash = (): string => {
  const [salt, hash] = [16, 32].map((size) =>
    randomBytes(size).toString('base64').replace(/=+$/, ''),
  );
  const { memoryCost, timeCost, parallelism } = COST;
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
};

/** Too many passwords wait to be checked; try again after `retryAfterSeconds`. */
export class PasswordsBusy extends Error {
  readonly retryAfterSeconds = 2;
}

/** Both throw PasswordsBusy. */
export interface Passwords {
  /** Of the NFC form (NIST SP 800-63B), in the PHC string format, with its salt and cost. */
  hash(password: string): Promise<string>;
  /**
   * `null`, nobody, and '', an account without a password, take as long as a wrong one, so that
   * nobody learns which names exist; where many wait, that time alone is waited, so that made-up names
   * delay no account. `from` is the asker's address: where many wait, each has its turn, those who
   * were wrong before come last, and who is known comes first. Hashes from before may be of another
   * form than NFC: what is given in one is tried as it is too, at the same time, whoever is asked for.
   */
  verify(
    hash: string | null,
    password: string,
    from: string,
    by?: { isKnown: boolean },
  ): Promise<boolean>;
}

/**
 * Argon2id behind a gate: hashing holds the pool of threads that DNS and files share, so two run
 * at a time, fifty wait, and the rest is refused. The library is loaded on first use.
 */
export const createPasswords = (): Passwords => {
  const turns = createTurns({ atOnce: AT_ONCE, waiting: QUEUE });
  const decoy = decoyHash();
  const library = () => import('@node-rs/argon2');

  const times = createTimes();

  const gated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof NoTurn ? new PasswordsBusy('Too many logins at once') : error;
    }
  };

  return {
    hash: (password) =>
      gated(() =>
        turns.take('', async () => (await library()).hash(password.normalize('NFC'), COST)),
      ),
    verify: async (known, password, from, { isKnown } = { isKnown: false }) => {
      const asker = networkOf(from);
      const { verify } = await library();
      const check = (one: string) => times.measure(() => verify(known || decoy, one));
      const instead = known ? undefined : () => times.pass();
      const forms = [...new Set([password.normalize('NFC'), password])];
      const standing = { isFirst: isKnown, instead };
      const matches = await Promise.all(
        forms.map((one) => gated(() => turns.take(asker, () => check(one), standing))),
      );
      const isRight = matches.includes(true) && Boolean(known);
      if (!isRight) turns.blame(asker);
      return isRight;
    },
  };
};

/** How long the last checks took. */
const createTimes = () => {
  const last: number[] = [];
  return {
    measure: async <T>(work: () => Promise<T>): Promise<T> => {
      const since = performance.now();
      const done = await work();
      last.push(performance.now() - since);
      if (last.length > MEASURED) last.shift();
      return done;
    },
    /** Waits for as long as one of them took. */
    pass: async (): Promise<false> => {
      await wait(last[Math.floor(Math.random() * last.length)] ?? 0);
      return false;
    },
  };
};
