import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createTurns, NoTurn } from './fairqueue.js';
import { networkOf } from './rate.js';

const AT_ONCE = 2;
const QUEUE = 50;
const MEASURED = 16;
/** The cost of argon2id (RFC 9106): memory in KiB, passes over it, and threads. */
export interface PasswordCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

/** The minimum in OWASP's Password Storage Cheat Sheet: 19 MiB, 2 passes. */
const PASSWORD_COST: PasswordCost = { memoryCost: 19456, timeCost: 2, parallelism: 1 };

/** Returns a hash of that cost that no password matches. */
const decoyHash = ({ memoryCost, timeCost, parallelism }: PasswordCost): string => {
  const [salt, hash] = [16, 32].map((size) =>
    randomBytes(size).toString('base64').replace(/=+$/, ''),
  );
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${hash}`;
};

/**
 * The error if too many passwords wait to be checked. The client may try again after
 * `retryAfterSeconds`.
 */
export class PasswordsBusy extends Error {
  readonly retryAfterSeconds = 2;
}

export type Passwords = ReturnType<typeof createPasswords>;

/**
 * Creates argon2id hashing behind a limit: hashing occupies the thread pool that DNS and files
 * share, so two run at a time, fifty wait, and the rest is refused. The library is loaded on first
 * use. Both methods throw PasswordsBusy.
 */
export const createPasswords = (cost: PasswordCost = PASSWORD_COST) => {
  const turns = createTurns({ atOnce: AT_ONCE, waiting: QUEUE });
  const decoy = decoyHash(cost);
  const library = () => import('@node-rs/argon2');

  const times = createTimes();

  const gated = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw error instanceof NoTurn ? new PasswordsBusy('Too many concurrent logins') : error;
    }
  };

  return {
    /**
     * Returns the hash of the NFC form (NIST SP 800-63B), in the PHC string format, with its salt
     * and cost.
     */
    hash: (password: string): Promise<string> =>
      gated(() =>
        turns.take('', async () => (await library()).hash(password.normalize('NFC'), cost)),
      ),
    /**
     * Verifies a password. `null`, an unknown user, and '', an account without a password, take as
     * long as a wrong password, so that nobody learns which names exist. If many requests wait,
     * such a check only waits for that time, so that made-up names delay no account. `from` is the
     * client's address: if many requests wait, the addresses take turns, those with wrong passwords
     * come last, and known clients come first. Older hashes may be of another form than NFC, so a
     * password in another form is also tried as it is, at the same time, for every user.
     */
    verify: async (
      known: string | null,
      password: string,
      from: string,
      { isKnown } = { isKnown: false },
    ): Promise<boolean> => {
      const asker = networkOf(from);
      const { verify } = await library();
      const check = (one: string) => times.measure(() => verify(known || decoy, one));
      const instead = known ? undefined : () => times.pass();
      const forms = [...new Set([password.normalize('NFC'), password])];
      const position = { isFirst: isKnown, instead };
      const matches = await Promise.all(
        forms.map((one) => gated(() => turns.take(asker, () => check(one), position))),
      );
      const isRight = matches.includes(true) && Boolean(known);
      if (!isRight) turns.blame(asker);
      return isRight;
    },
  };
};

/** Creates the record of how long the last checks took. */
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
    /** Waits for as long as one of those checks took. */
    pass: async (): Promise<false> => {
      await wait(last[Math.floor(Math.random() * last.length)] ?? 0);
      return false;
    },
  };
};
